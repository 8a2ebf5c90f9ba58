"""The deliveries that a node holds, and the thread that renews their leases."""

import logging
import threading
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from .celery_worker import begun_tags
from .database import SERVER_ERRORS, Database
from .options import Options
from .statements import Statements

logger = logging.getLogger(__name__)

#: A row that another transaction had locked is tried again after this time.
LOCKED_SECONDS = 0.5


class Lease(NamedTuple):
    """One delivery.  `since`: monotonic seconds of its claim."""

    row_id: int
    token: str
    task_id: str | None
    since: float


#: The leases that a node holds, as parameters of ADOPT: ids, tokens, known.
Holds = dict[str, list[int] | list[str]]
#: By delivery tag.  The node writes, the heart reads copies: both are single steps under the interpreter's lock.
Held = dict[str, Lease]


def columns(leases: list[Lease]) -> dict[str, list[int] | list[str]]:
    """The leases as parameters `ids` and `tokens` of a statement."""
    return {"ids": [lease.row_id for lease in leases], "tokens": [lease.token for lease in leases]}


def holds(held: Held, unwritten: list[Lease]) -> Holds:
    """The parameters of ADOPT.  unwritten: leases that have ended but are not yet settled in the table."""
    leases = list(held.values())
    return {**columns(leases), "known": [lease.token for lease in (*leases, *unwritten)]}


class Heart(threading.Thread):
    """Renews the leases of one node, on a separate connection, however long the node's thread is busy.

    It renews the leases that the node knows it holds, not those under its name in the table: if the answer to a claim
    was lost, no one knows of the lease and it must expire.
    """

    def __init__(
        self, database: Database, options: Options, sql: Statements, held: Held, owner: Callable[[], int | None]
    ) -> None:
        """Owner: the node's current lock."""
        super().__init__(name="durable-broker-heart", daemon=True)
        self._database, self._options, self._sql, self._held, self._owner = database, options, sql, held, owner
        self._stop_asked = threading.Event()
        self._lost: set[str] = set()

    def run(self) -> None:
        """Renew until `stop`."""
        pause = beat = self._options.heartbeat_seconds
        while not self._stop_asked.wait(pause):
            try:
                pause = beat if self._renew() else min(LOCKED_SECONDS, beat)
            except SERVER_ERRORS as error:
                logger.warning("event=heartbeat_failed error=%r", str(error).strip())
                pause = min(1.0, beat)  # the lease outlives several of these
        self._database.close()

    def stop(self) -> None:
        """Wait for a renewal in progress, so that none comes after the leases were handed back."""
        self._stop_asked.set()
        self.join(timeout=self._options.lease_seconds)

    def _renew(self) -> bool:
        """-> whether no row was left out because another transaction had locked it."""
        # Most jobs are done before their first beat: only older ones cost a write.
        before = monotonic() - self._options.heartbeat_seconds
        old = {tag: lease for tag, lease in list(self._held.items()) if lease.since <= before}
        due = [lease for lease in old.values() if lease.token not in self._lost]
        if not due:
            return True
        given = {
            **columns(due), "owner": self._owner(), "lease": self._options.lease_seconds,
            "begun": [old[tag].row_id for tag in begun_tags() if tag in old],
        }  # fmt: skip
        valid: dict[int, bool] = dict(self._database.run(self._sql.renew, given))
        current = {lease.token for lease in list(self._held.values())}
        gone = {lease.token for lease in due if lease.row_id not in valid}
        # Finished in the application's own commit, or given to another node; either way its later writes are fenced.
        self._lost = (self._lost | gone) & current
        return all(valid.values())
