"""Deliveries that are over, until that is written down."""

import threading
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any, NamedTuple

from psycopg2.errors import LockNotAvailable

from .database import Row
from .leases import LOCKED_SECONDS, Lease
from .statements import Statements

#: How a delivery ends: done; back on its queue, lost because its process died, lost if it had started, or not lost; a
#: dead letter, for a reason.
ACK, DIED, REQUEUE, RETURNED = "ack", "died", "requeue", "returned"
REJECTED, UNDECODABLE, LOST = "rejected", "undecodable", "lost"
#: Its own commit has written it down: nothing is left to write here.
SETTLED = "settled"

#: Entries of one statement: its plan is that of any number, and compares each message with all tokens.
MOST = 1000

#: (how, the delivery's lease)
Entry = tuple[str, Lease]


class RoundTrip(NamedTuple):
    """A statement that writes entries and claims.

    on_rows: takes the answer and returns the claim's rows of it; on_failure: is called if there is no answer.
    """

    statement: str
    parameters: dict[str, Any]
    on_rows: Callable[[list[Row]], list[Row]]
    on_failure: Callable[[], None]


class Ledger:
    """Entries are written together, with the next claim or by themselves.

    What could not be written stays and is written again: every statement is fenced by the lease, so twice is once.
    All methods may be called from any thread: each takes entries of its own to write.
    """

    def __init__(self, run: Callable[[str, Any], list[Row]], sql: Statements) -> None:
        self._run, self._sql = run, sql
        self._lock = threading.Lock()
        self._entries: deque[Entry] = deque()
        self._locked: deque[Entry] = deque()
        self._unwritten: dict[str, Lease] = {}
        self._locked_until = 0.0
        self._careful = False

    def __bool__(self) -> bool:
        """Whether there is something to write now."""
        return bool(self._entries) or (bool(self._locked) and monotonic() >= self._locked_until)

    def patience(self) -> float:
        """Seconds until there is."""
        return max(0.0, self._locked_until - monotonic()) if self._locked else float("inf")

    def add(self, how: str, lease: Lease) -> None:
        """How: one of the words above."""
        with self._lock:
            self._unwritten[lease.token] = lease
            self._entries.append((how, lease))

    def met(self, error: Exception) -> None:
        """What came of writing: somebody has a row locked, so the next time locked rows are left out."""
        self._careful = self._careful or isinstance(error, LockNotAvailable)

    def unwritten(self) -> list[Lease]:
        """How many entries are not written, those under way to the server included."""
        with self._lock:
            return list(self._unwritten.values())

    def write(self) -> None:
        """All of it, now.  Raises one of CONNECTION_ERRORS."""
        while True:
            entries, careful = self._take()
            if not entries:
                return
            try:
                [(locked,)] = self._run(self._sql.settle, _columns(entries, careful=careful))
            except BaseException:
                self._put_back(entries)
                raise
            self._keep(entries, locked)

    def round_trip(self, before: str, parameters: dict[str, Any]) -> RoundTrip:
        """A claim with up to MOST of it in front.  before: what else is in front."""
        entries, careful = self._take()
        if not entries:
            statement = f"{self._sql.soon_durable};{before}{self._sql.claim}"
            return RoundTrip(statement, parameters, lambda rows: rows, lambda: None)

        def on_rows(rows: list[Row]) -> list[Row]:
            self._keep(entries, rows[0][0])
            return [row[1:] for row in rows if any(value is not None for value in row[1:])]

        statement = before + self._sql.settle_and_claim
        return RoundTrip(
            statement, {**parameters, **_columns(entries, careful=careful)}, on_rows, lambda: self._put_back(entries)
        )

    def _take(self) -> tuple[list[Entry], bool]:
        with self._lock:
            careful = self._careful
            entries = [self._entries.popleft() for _ in range(min(MOST, len(self._entries)))]
            self._careful = False
            if self._locked and monotonic() >= self._locked_until:
                entries += self._locked
                self._locked.clear()
                careful = True
            return entries, careful

    def _put_back(self, entries: list[Entry]) -> None:
        with self._lock:
            self._entries.extendleft(reversed(entries))

    def _keep(self, entries: list[Entry], locked: list[int] | None) -> None:
        with self._lock:
            for entry in entries:
                if entry[1].row_id in (locked or ()):
                    self._locked.append(entry)
                    self._locked_until = monotonic() + LOCKED_SECONDS
                else:
                    self._unwritten.pop(entry[1].token, None)


def _columns(entries: list[Entry], *, careful: bool) -> dict[str, list[int] | list[str] | bool]:
    done = [lease for how, lease in entries if how == ACK]
    others = [entry for entry in entries if entry[0] != ACK]
    return {
        "done": [lease.row_id for lease in done],
        "done_tokens": [lease.token for lease in done],
        "others": [lease.row_id for _, lease in others],
        "tokens": [lease.token for _, lease in others],
        "hows": [how for how, _ in others],
        "careful": careful,
    }
