"""The database that the tests of the broker share one after another."""

from __future__ import annotations

from contextlib import ExitStack

import psycopg2
from celery_durable import schema

from durable_harness.broker import RUNS
from durable_harness.emptied import Emptied
from durable_harness.postgres import PostgresServer

#: All schemas: tests make some of their own.
DROP = """
    DO $$
    DECLARE
        one name;
    BEGIN
        FOR one IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
            EXECUTE format('DROP SCHEMA %I CASCADE', one);
        END LOOP;
    END $$"""


class Database:
    """The one database of a server: emptied for the next test, or made anew if a test changed more than rows."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self._stack = ExitStack()
        self._emptied: Emptied | None = None

    def clean(self) -> None:
        if self._emptied is None or not self._emptied.clean():
            self.make()

    def make(self) -> None:
        self.close()
        connection = psycopg2.connect(self.server.url())
        with connection, connection.cursor() as cursor:
            cursor.execute(DROP)
            cursor.execute("CREATE SCHEMA public")
            schema.upgrade(connection)
            schema.add_stock_names(connection)
            cursor.execute(RUNS)
        connection.close()
        self._emptied = Emptied(self.server.url(), self._stack, kept=["kombu_schema"])

    def close(self) -> None:
        self._stack.close()
        self._emptied = None
