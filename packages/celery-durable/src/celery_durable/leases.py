"""The deliveries that a node holds, and the thread that renews their leases."""

import logging
import select
import socket
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, NamedTuple

from .async_database import DeadlineDatabase
from .celery_worker import begun_tags
from .database import SERVER_ERRORS, is_refusal
from .options import Options
from .statements import Statements

logger = logging.getLogger(__name__)

#: A row that another transaction had locked is tried again after this time.
LOCKED_SECONDS = 0.5
#: After an error: the first and the longest pause, doubled in between.
BACKOFF_SECONDS = (0.05, 1.0)


class Lease(NamedTuple):
    """One delivery.  `since`: monotonic seconds of its claim."""

    row_id: int
    token: str
    task_id: str | None
    since: float


#: By delivery tag.  The node writes, the heart reads copies: both are single steps under the interpreter's lock.
Held = dict[str, Lease]


def columns(leases: list[Lease]) -> dict[str, list[int] | list[str]]:
    """The leases as parameters `ids` and `tokens` of a statement."""
    return {"ids": [lease.row_id for lease in leases], "tokens": [lease.token for lease in leases]}


def known(held: Held, unwritten: Callable[[], list[Lease]]) -> list[str]:
    """The tokens of what is held or still to be settled; in this order, as a delivery that ends is in both first."""
    leases = list(held.values())
    return [lease.token for lease in (*leases, *unwritten())]


class Heart(threading.Thread):
    """Renews the leases of one node, on a session of its own, however long the node's thread is busy.

    That session holds the node's lock as well: a solo worker does not notice for the length of a task that its other
    session was cut, and is alive all the same.  The end of this one is noticed at once.  An idle node has neither the
    thread nor the session: they begin with the first message that it holds.

    It renews the leases that the node knows it holds, not those under its name in the table: if the answer to a claim
    was lost, no one knows of the lease and it must expire.
    """

    def __init__(
        self, database: DeadlineDatabase, options: Options, sql: Statements, held: Held, identity: Mapping[str, Any]
    ) -> None:
        """Identity: the parameters of the statement NAME."""
        super().__init__(name="durable-broker-heart", daemon=True)
        self._database, self._options, self._sql, self._held, self._identity = database, options, sql, held, identity
        self._has_lock = False
        self._backend: int | None = None
        self._lost: set[str] = set()

    def wake(self) -> None:
        """Something is held, so renew until `stop`."""
        if self.ident is None:
            self._bell, self._ear = socket.socketpair()
            self.start()

    def run(self) -> None:
        """Name the node, and renew."""
        beat = self._options.heartbeat_seconds
        pause, first = 0.0, BACKOFF_SECONDS[0]
        backoff, logged = first, ""
        while True:
            try:
                if self._is_asked_to_stop(pause):
                    break
                self._take_lock()
                pause, backoff, logged = beat if self._renew() else min(LOCKED_SECONDS, beat), first, ""
            except SERVER_ERRORS as error:
                # a server may be away for hours
                if (said := str(error).strip()) != logged:
                    logger.warning("event=renewal_failed error=%r", said)
                logged = said
                if not (is_refusal(error) and self._database.is_open):
                    self._database.close()
                # the lease outlives several of these
                pause, backoff = min(backoff, beat), min(backoff * 2, BACKOFF_SECONDS[1])
        self._database.close()

    def stop(self) -> None:
        """Wait for a renewal in progress, so that none comes after the leases were handed back."""
        if self.ident is None or self._bell.fileno() < 0:
            return
        # A child that was forked meanwhile has a copy, which closing ours leaves open.
        self._bell.shutdown(socket.SHUT_RDWR)
        self._bell.close()
        self.join(timeout=self._options.lease_seconds)
        if not self.is_alive():
            self._ear.close()

    def _is_asked_to_stop(self, seconds: float) -> bool:
        """Wait.  Raises one of CONNECTION_ERRORS when the session ends meanwhile."""
        ears = [self._ear.fileno()]
        if self._database.is_open:
            ears.append(self._database.connection.fileno())
        readable, _, _ = select.select(ears, [], [], seconds)
        if ears[0] in readable:
            return True
        if readable:
            self._database.read()
        return False

    def _take_lock(self) -> None:
        """Hold the node's lock in this session, if it is a new one."""
        if not self._database.is_open:
            self._has_lock = False
        if not self._has_lock and self._identity["owner"] is not None:
            self._database.run(self._sql.name, {**self._identity, "before": self._backend})
            self._backend = self._database.backend
        self._has_lock = True

    def _renew(self) -> bool:
        """-> whether no row was left out because another transaction had locked it."""
        # Most jobs are done before their first beat: only older ones cost a write.
        before = monotonic() - self._options.heartbeat_seconds
        old = {tag: lease for tag, lease in list(self._held.items()) if lease.since <= before}
        due = [lease for lease in old.values() if lease.token not in self._lost]
        if not due:
            return True
        given = {
            **columns(due), "lease": self._options.lease_seconds,
            "begun": [old[tag].row_id for tag in begun_tags() if tag in old],
        }  # fmt: skip
        valid: dict[int, bool] = dict(self._database.run(self._sql.renew, given))
        current = {lease.token for lease in list(self._held.values())}
        gone = {lease.token for lease in due if lease.row_id not in valid}
        # Finished in the application's own commit, or given to another node; either way its later writes are fenced.
        self._lost = (self._lost | gone) & current
        return all(valid.values())
