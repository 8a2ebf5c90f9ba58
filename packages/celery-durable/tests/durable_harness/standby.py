"""A streaming standby of a test server, which takes over when that one has gone."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import psycopg2

from durable_harness.postgres import PostgresServer
from durable_harness.waiting import wait_for

#: Of a server that may have standbys.
PRIMARY = {"wal_level": "replica", "max_wal_senders": "8", "wal_keep_size": "0"}
CONNECTED = "SELECT sync_state FROM pg_stat_replication WHERE application_name = %s AND state = 'streaming'"


class Copy(PostgresServer):
    """A server with the programs of another one, and with data that is copied from it: `copy` makes the folder."""

    def __init__(self, of: PostgresServer, copy: Callable[[PostgresServer], None], **settings: str) -> None:
        self.programs, self._copy = of.programs, copy
        super().__init__(**settings)

    def _fill(self) -> None:
        self._copy(self)

    def promote(self) -> None:
        """-> when it accepts writes."""
        self.run_program("pg_ctl", "-D", str(self.data), "-w", "promote")


class Standby(Copy):
    """Made by pg_basebackup, with a slot of this name; asynchronous, and not started yet."""

    def __init__(self, primary: PostgresServer, name: str, **settings: str) -> None:
        self.name, self._primary = name, primary
        super().__init__(primary, self._back_up, **settings)

    def _back_up(self, _: PostgresServer) -> None:
        place = f"host=127.0.0.1 port={self._primary.port} user=postgres application_name={self.name}"
        self.run_program(
            "pg_basebackup", "-D", str(self.data), "-d", place, "-R", "-C", "-S", self.name, "-c", "fast", "--no-sync"
        )

    def follow(self) -> None:
        """Start, and wait until it streams."""
        self.start()
        wait_for(lambda: query(self._primary, CONNECTED, self.name), "the standby to stream")


def query(server: PostgresServer, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Run one statement in a session of its own, outside of a transaction block."""
    with closing(psycopg2.connect(server.url())) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []
