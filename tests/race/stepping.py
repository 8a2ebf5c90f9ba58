"""Use cases in threads and connections of their own, stopped before each statement: somebody else says who goes on.

A strand that waits for a lock of PostgreSQL is known by `pg_blocking_pids`, asked over a connection that is no strand's;
it goes on by itself when the lock is free, up to its next statement.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg2.extensions
from sqlalchemy import Engine, event

from app.store.core.connections import make_engine
from tests.race.gates import Gates

PATIENCE_SECONDS = 30.0
#: A statement that takes longer may be waiting for a lock.
QUICK_SECONDS = 0.004
#: They read, write and lock nothing, so their place in an order is of no account.
SILENT = ("BEGIN", "SAVEPOINT", "RELEASE")

_here = threading.local()


@dataclass(eq=False)
class Strand:
    """One use case on its way.  stands: the statement it is stopped before; inside: the gate at which it is stopped
    within its last one; rows: how many that one found; outcome: what it gave, or raised.
    """

    name: str
    action: Callable[[], Any]
    changed: threading.Condition
    stands: str | None = None
    inside: int | None = None
    last: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    pid: int = 0
    rows: int = -1
    ended: bool = False
    waits: bool = False
    free: bool = False
    outcome: Any = None

    @property
    def moves(self) -> bool:
        """Whether it runs, or waits for a lock."""
        return self.next is None and not self.ended

    @property
    def next(self) -> str | None:
        """What it does when it is released."""
        return self.stands if self.inside is None else self.last

    def stop(self, pid: int, statement: str, given: Any) -> None:
        """In the strand's own thread: stand until released."""
        if self.free:
            return
        with self.changed:
            self.pid, self.stands, self.last = pid, statement, statement
            self.given = given if isinstance(given, Mapping) else {}
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.stands is None)

    def release(self) -> None:
        """Let it run its statement, up to the next one."""
        with self.changed:
            self.stands = None
            self.changed.notify_all()

    def run(self) -> None:
        """The thread's body."""
        _here.strand = self
        try:
            self.outcome = self.action()
        except Exception as error:  # noqa: BLE001 - judged by whoever plays
            self.outcome = error
        with self.changed:
            self.ended = True
            self.changed.notify_all()


#: Whom to release of those that stand, by name; None: all of them, from now on.
Choose = Callable[[Mapping[str, Strand]], str | None]


def _stop(connection: Any, statement: str, given: Any = None) -> None:
    strand = getattr(_here, "strand", None)
    if strand is None or statement.startswith(SILENT):
        return
    ends = statement in {"COMMIT", "ROLLBACK"}
    if ends and connection.info.transaction_status == psycopg2.extensions.TRANSACTION_STATUS_IDLE:
        return
    strand.stop(connection.info.backend_pid, statement, given)


class _Cursor(psycopg2.extensions.cursor):
    def execute(self, query: Any, vars: Any = None) -> None:  # noqa: A002 - psycopg2's name
        _stop(self.connection, str(query).strip(), vars)
        super().execute(query, vars)
        if strand := getattr(_here, "strand", None):
            strand.rows = self.rowcount


@contextmanager
def stepped_engine(url: str) -> Iterator[Engine]:
    """The product's engine with one connection, open already, whose statements stop where a strand runs them."""
    engine = make_engine(url, pool_size=1)

    @event.listens_for(engine, "do_connect")
    def stopping(_dialect: Any, _record: Any, _arguments: Any, options: dict[str, Any]) -> None:
        options.update(cursor_factory=_Cursor)

    with engine.connect():
        pass
    yield engine
    engine.dispose()


class Stage:
    """Plays strands to their end, one statement at a time."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates

    def play(self, actions: Sequence[Callable[[], Any]], choose: Choose) -> list[Any]:
        """Run the actions, named a, b, … in their order, as somebody chooses; their outcomes."""
        self._gates.shut_all()
        changed = threading.Condition()
        strands = [Strand(name, action, changed) for name, action in zip("abcdefgh", actions, strict=False)]
        threads = [threading.Thread(target=strand.run, daemon=True) for strand in strands]
        try:
            for thread in threads:  # one after the other, so that each comes to its first statement by itself
                thread.start()
            while self._settle(strands, changed):
                chosen = choose({strand.name: strand for strand in strands if strand.next is not None})
                if chosen is None:
                    break
                self._release(next(strand for strand in strands if strand.name == chosen))
        finally:
            if not all(strand.ended for strand in strands):
                self._gates.open_all()
            for strand in strands:
                strand.free = True
                strand.release()
            for thread in threads:
                thread.join(PATIENCE_SECONDS)
        assert all(strand.ended for strand in strands), "a strand never ended"
        return [strand.outcome for strand in strands]

    def _settle(self, strands: Sequence[Strand], changed: threading.Condition) -> bool:
        """Until each stands, has ended or waits for another one that stands; False when all have ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with changed:
                changed.wait_for(
                    lambda: not any(strand.moves and not strand.waits for strand in strands), QUICK_SECONDS
                )
            moving = [strand for strand in strands if strand.moves]
            waiting = self._gates.waiting([strand.pid for strand in moving])
            for strand in moving:
                strand.waits, strand.inside = strand.pid in waiting, waiting.get(strand.pid)
                if strand.inside is not None:
                    strand.last = self._gates.statements[strand.inside]
            if any(strand.next is not None for strand in strands):
                moving = [strand for strand in moving if strand.moves]
                if all(strand.waits for strand in moving):
                    return True
            elif not moving:
                return False
        raise AssertionError("the strands neither stand nor wait for each other")

    def _release(self, strand: Strand) -> None:
        strand.waits = False
        if strand.inside is None:
            strand.release()
            return
        gate, strand.inside = strand.inside, None
        self._gates.pass_through(strand.pid, gate)
