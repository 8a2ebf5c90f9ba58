"""The one clock for everything that is stored: the database's (docs/adr/0043).

A step of a job reads it with its first statement.  All other code uses the process's copy: an instant of the database
plus the time that has passed since then on a clock that nobody sets.  The host's own clock is only compared with it.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import structlog
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from app.store.core import host_settings
from app.store.core.session import session

log = structlog.get_logger(__name__)

#: For a statement that may get its instant from the caller, as in tests.
INSTANT = "coalesce(CAST(:now AS timestamptz), clock_timestamp())"
#: How old a copy may be.  The clocks of two computers diverge by less than a millisecond in that time.
FRESH_SECONDS = 30.0
#: An answer that took longer is inaccurate, so it is asked again, at most this often.
QUICK_SECONDS, TRIES = 0.01, 5
#: A host that differs by more than this is reported.
TOLERATED = timedelta(seconds=1)

_ASK = text("SELECT clock_timestamp()")
_TELL = text("""
    INSERT INTO host_clocks AS c (host, program, ahead_seconds, settings)
    SELECT :host, current_setting('application_name'), :ahead, CAST(:settings AS jsonb)
      FROM set_config('synchronous_commit', 'off', true) -- no request waits for a standby because of it
    ON CONFLICT (host, program) DO UPDATE
       SET ahead_seconds = excluded.ahead_seconds, settings = excluded.settings, measured_at = clock_timestamp()
     WHERE c.measured_at < clock_timestamp() - interval '1 minute'
        OR abs(c.ahead_seconds - excluded.ahead_seconds) > 1 OR c.settings IS DISTINCT FROM excluded.settings""")
SKEWS = text("""
    SELECT host, program, ahead_seconds FROM host_clocks
     WHERE measured_at > clock_timestamp() - interval '15 minutes' ORDER BY host, program""")


@dataclass(frozen=True, slots=True)
class _Copy:
    at: datetime  #: by the database
    passed: float  #: the same moment, on the clock that nobody sets
    ahead: timedelta  #: how far the host's clock is ahead of the database's


class SkewRow(NamedTuple):
    """A process that reads the clock, and by how many seconds its own is ahead."""

    host: str
    program: str
    ahead_seconds: float


def _elapsed() -> float:
    # it continues while the machine is suspended, unlike the monotonic clock
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Clock:
    """A process's copy of the database's clock.  ask: reads that clock; tell: receives each new skew."""

    def __init__(
        self,
        ask: Callable[[], datetime],
        tell: Callable[[timedelta], None],
        *,
        elapsed: Callable[[], float] = _elapsed,
        host: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._ask, self._tell, self._elapsed, self._host = ask, tell, elapsed, host
        self._copy: _Copy | None = None
        self._reading = Lock()
        self._failed: SQLAlchemyError | None = None  #: of the last attempt to get the first copy

    def now(self) -> datetime:
        """The database's instant, accurate to half a round trip; the database is asked at most every 30 seconds.

        Raises: what `ask` raises, if it never answered.
        """
        copy = self._copy
        if copy is None:
            copy = self._first()
        elif self._elapsed() - copy.passed > FRESH_SECONDS and self._reading.acquire(blocking=False):
            try:
                copy = self._read()
            except SQLAlchemyError as error:  # callers notice the error themselves
                log.warning("clock_not_read", error=type(error).__name__)
            finally:
                self._reading.release()
        return copy.at + timedelta(seconds=self._elapsed() - copy.passed)

    @property
    def ahead(self) -> timedelta:
        """Measure how far the host's clock is ahead of the database's; negative: behind."""
        self.now()
        return self._copy.ahead if self._copy else timedelta(0)

    def _first(self) -> _Copy:
        """Ask for all that come meanwhile: if the database is away, each would wait for that after the other."""
        known = self._failed
        with self._reading:
            if self._copy is None and self._failed is not known and self._failed is not None:
                raise self._failed
            try:
                copy, self._failed = self._copy or self._read(), None
            except SQLAlchemyError as error:
                self._failed = error
                raise
        return copy

    def _read(self) -> _Copy:
        best, quickest = None, float("inf")
        for _ in range(TRIES):
            began = self._elapsed()
            at, host = self._ask(), self._host()
            took = self._elapsed() - began
            if took < quickest:
                half = timedelta(seconds=took / 2)
                best, quickest = _Copy(at, began + took / 2, host - half - at), took
            if took < QUICK_SECONDS:
                break
        if best is None:
            raise RuntimeError("the clock was not asked")
        self._copy = best
        self._tell(best.ahead)
        return best


_clocks: WeakKeyDictionary[Engine, Clock] = WeakKeyDictionary()


def clock_of(engine: Engine) -> Clock:
    """The copy of this engine's database."""
    if engine not in _clocks:
        _clocks[engine] = Clock(lambda: _database(engine), lambda ahead: _log_skew(engine, ahead))
    return _clocks[engine]


def _database(engine: Engine) -> datetime:
    with session(engine, once=True) as connection:
        found: datetime = connection.execute(_ASK).scalar_one()
    return found


def _log_skew(engine: Engine, ahead: timedelta) -> None:
    if abs(ahead) > TOLERATED:
        log.warning("clock_skew", ahead_seconds=round(ahead.total_seconds(), 3))
    # the schema is older, or the role may not write; a relevant skew is in the log already
    with suppress(SQLAlchemyError):
        row = {"host": socket.gethostname(), "ahead": ahead.total_seconds(), "settings": host_settings.as_json(engine)}
        with session(engine, once=True) as connection:
            connection.execute(_TELL, row)


def instant(tx: Any, now: datetime | None) -> datetime:
    """The instant given, or the database's.  tx: a Tx."""
    found: datetime = now or tx.run(_ASK).scalar_one()
    return found


def skews(connection: Any) -> list[SkewRow]:
    """The clocks of processes that read the database's within the last 15 minutes."""
    return [SkewRow(*row) for row in connection.execute(SKEWS)]
