"""Stops within a function of the database: before each of its statements it asks for a lock that the watcher holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_STATEMENT = re.compile(r"^( +)((?:SELECT|PERFORM|INSERT|UPDATE|DELETE|\w+ :=)[^;]*;)", re.MULTILINE)
STOP = """
    CREATE FUNCTION race_stop(number integer) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_lock(pg_backend_pid(), number);
        PERFORM pg_advisory_unlock(pg_backend_pid(), number);
    END $$"""
WAITING = """
    SELECT b.pid, CASE WHEN pg_backend_pid() = ANY (b.by) THEN (
               SELECT l.objid::integer FROM pg_locks l WHERE l.pid = b.pid AND NOT l.granted AND l.locktype = 'advisory') END
      FROM (SELECT pid, pg_blocking_pids(pid) AS by FROM unnest(%s) AS pid) b
     WHERE b.by && (%s::integer[] || pg_backend_pid())"""


class Gates:
    """Of these sessions of the server.  statements: before which there is a gate, by its number."""

    def __init__(self, watcher: Any, pids: Sequence[int]) -> None:
        """watcher: a psycopg2 connection in autocommit; nobody else's."""
        self._watcher, self._pids = watcher, pids
        self._shut: set[tuple[int, int]] = set()
        self._passed: set[tuple[int, int]] = set()
        self.statements: list[str] = []
        self._do(STOP)

    def put_into(self, function: str) -> None:
        """Put a stop before each statement of a function; its number is the statement's place in `statements`."""

        def stopped(found: re.Match[str]) -> str:
            self.statements.append(found[2])
            return f"{found[1]}PERFORM race_stop({len(self.statements) - 1});\n{found[0]}"

        (definition,) = self._do("SELECT pg_get_functiondef(%s::regproc)", function)[0]
        self._do(_STATEMENT.sub(stopped, definition))

    def shut_all(self) -> None:
        """Before strands run.  Those that nobody had to open are shut still."""
        for pid in self._pids:
            for gate in range(len(self.statements)):
                self._turn("pg_advisory_lock", pid, gate)

    def open_all(self) -> None:
        """Whoever waits at a gate goes on, and so does who comes to one."""
        for pid, gate in sorted(self._shut):
            self._turn("pg_advisory_unlock", pid, gate)

    def pass_through(self, pid: int, gate: int) -> None:
        """Let a session go on from a gate, which is shut again behind it."""
        self._turn("pg_advisory_unlock", pid, gate)
        self._passed.add((pid, gate))

    def waiting(self, pids: Sequence[int]) -> dict[int, int | None]:
        """Which of the sessions wait for a lock, and at which gate; None: for a lock of another one of the sessions.

        Who waits for a stranger, as for autovacuum, goes on by itself: whether it had to is of no account.
        """
        found = dict(self._do(WAITING, list(pids), list(self._pids))) if pids else {}
        for pid, gate in [
            one for one in self._passed if one[0] not in pids or found.get(one[0], one[1]) not in {None, one[1]}
        ]:
            self._passed.discard((pid, gate))
            self._turn("pg_advisory_lock", pid, gate)
        return found

    def _turn(self, how: str, pid: int, gate: int) -> None:
        if (how == "pg_advisory_lock") is ((pid, gate) in self._shut):
            return
        self._do(f"SELECT {how}(%s, %s)", pid, gate)
        self._shut ^= {(pid, gate)}

    def _do(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with self._watcher.cursor() as cursor:
            cursor.execute(query, parameters or None)
            return list(cursor.fetchall()) if cursor.description else []
