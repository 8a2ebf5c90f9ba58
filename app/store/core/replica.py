"""A replica: a standby that answers reads once it has shown to have what they need (docs/adr/0093)."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from app import process_metrics
from app.store.core.database_errors import code_of
from app.store.core.needs import Need, Position, ReplicaFault, UnusableError
from app.store.core.session import Session, session

R = TypeVar("R")
log = structlog.get_logger(__name__)

#: For how long nothing is asked of a replica that has failed or cannot be used.
AWAY_SECONDS = 5.0
#: For how long no read that needs a position is sent to a replica that has not reached one.
BEHIND_SECONDS = 1.0
#: The log names faults of a replica at most this often.
QUIET_SECONDS = 60.0
#: A statement was in the way of the replay, or in a deadlock with it: the next one may work.
CONFLICTS = ("40001", "40P01")
#: What took too long here would take as long on the primary.
TIMED_OUT = "57014"
#: Faults after which the replica is left alone.  The others concern one read.
_PAUSES = {ReplicaFault.AWAY: AWAY_SECONDS, ReplicaFault.UNFIT: AWAY_SECONDS, ReplicaFault.BUSY: BEHIND_SECONDS}


class Replica:
    """A replica as one process sees it.

    needed: the revision of this release's schema; logs: whether faults are logged; elapsed: seconds on a clock that
    nobody sets.
    """

    def __init__(
        self, engine: Engine, needed: str, *, logs: bool = True, elapsed: Callable[[], float] = time.monotonic
    ) -> None:
        self.engine, self._needed, self._logs, self._elapsed = engine, needed, logs, elapsed
        self._changing = Lock()
        self._fault: UnusableError | None = None
        self._lag: UnusableError | None = None
        self._until = self._lag_until = self._quiet_until = 0.0

    @property
    def fault(self) -> str | None:
        """Why reads are not sent to it, by the last ones that were; None while they are."""
        found = self._fault or self._lag
        return None if found is None else str(found)

    def is_tried(self, *, with_position: bool) -> bool:
        """Whether a read may be sent to it now.  After a fault one read tries it, and the others wait for the outcome.

        with_position: the read needs a position.
        """
        with self._changing:
            now = self._elapsed()
            fault = self._fault if now < self._until else self._lag if with_position and now < self._lag_until else None
            if fault is not None:
                process_metrics.replica_reads.labels(fault.reason).inc()
                return False
            if self._fault is not None:
                self._until = now + _PAUSES[self._fault.reason]
            return True

    def read(self, need: Need, fetch: Callable[[Session], R]) -> R:
        """Read in one transaction, once the need is met.  fetch: may run in vain, so it only reads.

        Raises: UnusableError if the primary has to answer; what `fetch` raises, of the database only its time limit.
        """
        is_met = False
        try:
            with session(self.engine) as connection:
                connection.begin()
                need.check(connection, self._needed)
                is_met = True
                with connection.fetching():
                    found = fetch(connection)
                connection.commit()
        except UnusableError as error:
            self.failed(error)
            raise
        except SQLAlchemyError as error:
            if is_met and code_of(error) == TIMED_OUT:
                raise
            unusable = _unusable(error)
            self.failed(unusable)
            raise unusable from error
        self._worked(with_position=isinstance(need, Position))
        return found

    def failed(self, error: UnusableError) -> None:
        """Note why a read has to be answered by the primary."""
        process_metrics.replica_reads.labels(error.reason).inc()
        with self._changing:
            now = self._elapsed()
            if error.reason is ReplicaFault.BEHIND:
                self._lag, self._lag_until = error, now + BEHIND_SECONDS
            elif error.reason in _PAUSES:
                self._fault, self._until = error, now + _PAUSES[error.reason]
            else:
                return
            is_told, self._quiet_until = now < self._quiet_until, now + QUIET_SECONDS
        if self._logs and not is_told:
            log.warning("replica_left_alone", reason=str(error))

    def _worked(self, *, with_position: bool) -> None:
        process_metrics.replica_reads.labels(ReplicaFault.NONE).inc()
        if self._fault is None and (self._lag is None or not with_position):
            return
        with self._changing:
            self._fault, self._until = None, 0.0
            if with_position:
                self._lag, self._lag_until = None, 0.0


def _unusable(error: SQLAlchemyError) -> UnusableError:
    if isinstance(error, NoConnectionError):
        return UnusableError(ReplicaFault.BUSY, "all connections to it are in use")
    code = code_of(error)
    if code in CONFLICTS:
        return UnusableError(ReplicaFault.CONFLICT, "its replay cancelled the statement")
    return UnusableError(ReplicaFault.AWAY, f"it does not answer ({code or type(error).__name__})")
