"""The deliveries a node holds, and the thread that keeps them."""

import logging
import threading
from time import monotonic
from typing import NamedTuple

from .database import SERVER_ERRORS, Database
from .options import Options
from .statements import Statements

logger = logging.getLogger(__name__)


class Lease(NamedTuple):
    """One delivery.  `since`: monotonic seconds of its claim."""

    row_id: int
    token: str
    task_id: str | None
    since: float


#: By delivery tag.  The node writes, the heart reads copies: both are single steps under the interpreter's lock.
Held = dict[str, Lease]


def columns(leases: list[Lease]) -> dict[str, list[int] | list[str]]:
    """As parameters `ids` and `tokens` of a statement."""
    return {"ids": [lease.row_id for lease in leases], "tokens": [lease.token for lease in leases]}


class Heart(threading.Thread):
    """Renews the leases of one node, on a connection of its own, however long the node's thread is busy.

    It renews what the node knows to hold, not what carries its name in the table: a claim whose answer was lost on the
    way is known to nobody and must run out.
    """

    def __init__(self, database: Database, options: Options, sql: Statements, held: Held) -> None:
        super().__init__(name="durable-broker-heart", daemon=True)
        self._database, self._options, self._sql, self._held = database, options, sql, held
        self._stop_asked = threading.Event()
        self._lost: set[str] = set()

    def run(self) -> None:
        """Until `stop`."""
        pause = beat = self._options.heartbeat_seconds
        while not self._stop_asked.wait(pause):
            try:
                self._renew()
                pause = beat
            except SERVER_ERRORS as error:
                logger.warning("event=heartbeat_failed error=%r", str(error).strip())
                pause = min(1.0, beat)  # the lease outlives several of these
        self._database.close()

    def stop(self) -> None:
        """Wait for a renewal under way, so that none comes after the leases were handed back."""
        self._stop_asked.set()
        self.join(timeout=self._options.lease_seconds)

    def _renew(self) -> None:
        # Most jobs are done before their first beat: only what is older costs a write.
        before = monotonic() - self._options.heartbeat_seconds
        due = [lease for lease in list(self._held.values()) if lease.since <= before and lease.token not in self._lost]
        if not due:
            return
        kept = {
            row[0]
            for row in self._database.run(self._sql.renew, {**columns(due), "lease": self._options.lease_seconds})
        }
        current = {lease.token for lease in list(self._held.values())}
        gone = {lease.token for lease in due if lease.row_id not in kept}
        # Finished in the application's own commit, or given to another node; either way what comes of it is fenced.
        self._lost = (self._lost | gone) & current
