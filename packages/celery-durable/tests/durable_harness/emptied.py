"""One way to empty a database: for many tests, which each find it as it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import psycopg2

# Nobody else may be connected: a worker that was killed a moment ago still has a session.
END_SESSIONS = """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> ALL (%s)"""
# A row's xmin is the transaction that wrote it.  Those of pg_class are left out: VACUUM and TRUNCATE write there, too.
SCHEMA = """
    SELECT sum(hashtextextended(one, 0))::text FROM (
        SELECT concat_ws(':', tableoid, attrelid, attnum, xmin) FROM pg_attribute WHERE attrelid >= 16384
        UNION ALL SELECT concat_ws(':', oid, relname, relkind, relowner, relacl, reloptions, relrowsecurity)
                    FROM pg_class WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_proc WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_trigger WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_constraint WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, indexrelid, xmin) FROM pg_index WHERE indexrelid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_type WHERE oid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_namespace
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_extension
        UNION ALL SELECT concat_ws(':', tableoid, oid, xmin) FROM pg_policy
        UNION ALL SELECT concat_ws(':', tableoid, objoid, classoid, objsubid, description)
                    FROM pg_description WHERE objoid >= 16384
        UNION ALL SELECT concat_ws(':', tableoid, defaclrole, defaclobjtype, defaclacl) FROM pg_default_acl
        UNION ALL SELECT concat_ws(':', setrole, setconfig) FROM pg_db_role_setting
                    JOIN pg_database ON setdatabase = pg_database.oid AND datname = current_database()
        UNION ALL SELECT concat_ws(':', datacl, datdba, datallowconn, datconnlimit)
                    FROM pg_database WHERE datname = current_database()
    ) AS rows (one)"""
# TRUNCATE makes a new file for each table and index, 3 ms apiece; deleting a few rows takes a tenth.
# As a replica the session runs no triggers and checks no references, so that the order is free.
EMPTY = """
    DO $$
    DECLARE
        one record;
    BEGIN
        SET LOCAL session_replication_role = replica;
        FOR one IN
            SELECT oid::regclass AS name, pg_relation_size(oid) AS bytes FROM pg_class
             WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> ALL (%(kept)s)
        LOOP
            IF one.bytes > 1048576 THEN
                EXECUTE format('TRUNCATE %%s CASCADE', one.name);
            ELSIF one.bytes > 0 THEN
                EXECUTE format('DELETE FROM %%s', one.name);
            END IF;
        END LOOP;
        PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence
          WHERE pg_sequence_last_value(seqrelid) IS NOT NULL AND seqrelid::regclass::text <> ALL (%(sequences)s);
    END $$"""


class Emptied:
    """A database whose rows go between tests: 10 ms, where making it anew takes hundreds.

    It keeps its own session, which has read the catalogue.
    """

    def __init__(
        self,
        url: str,
        stack: ExitStack,
        *,
        kept: Sequence[str] = (),
        sequences: Sequence[str] = (),
        spared: Callable[[], Iterable[int]] = tuple,
    ) -> None:
        """url: of a superuser.  kept: tables that get their rows back; sequences: that go on; spared: sessions by pid."""
        self._url, self._stack, self._spared = url, stack, spared
        self._tables = kept
        self._cursor = self._connect()
        self._schema, self._kept = self._found("schema"), self._found("kept_rows")
        self._given = {"kept": list(kept), "sequences": list(sequences)}

    def clean(self) -> bool:
        """End others' sessions and take out all rows; False if a test changed more than rows: then it is of no use."""
        try:
            self._end_sessions()
        except psycopg2.OperationalError:  # the test ended all sessions, or the server
            self._cursor = self._connect()
            self._end_sessions()
        if self._found("schema") != self._schema:
            return False
        self._cursor.execute("SELECT pg_stat_reset()")  # counts deadlocks, for one
        self.take_out()
        return True

    def take_out(self) -> None:
        """Take out all rows, and put the kept ones back; sessions may be there, but no transaction."""
        self._cursor.execute(EMPTY, self._given)
        for table, kept, found in zip(self._tables, self._kept, self._found("kept_rows"), strict=True):
            if found != kept:
                self._put_back(table, kept)

    def _connect(self) -> Any:
        """A session that has planned what is asked between all tests."""
        cursor = self._stack.enter_context(session(self._url))
        rows = [f"(SELECT json_agg(one ORDER BY one::text)::text FROM {table} AS one)" for table in self._tables]
        cursor.execute(f"PREPARE schema AS {SCHEMA}; PREPARE kept_rows AS SELECT {', '.join(rows)}")
        return cursor

    def _found(self, prepared: str) -> tuple[str, ...]:
        """The one row of what `_connect` has prepared."""
        self._cursor.execute(f"EXECUTE {prepared}")
        row: tuple[str, ...] = self._cursor.fetchone()
        return row

    def _end_sessions(self) -> None:
        self._cursor.execute(END_SESSIONS, [[self._cursor.connection.info.backend_pid, *self._spared()]])

    def _put_back(self, table: str, rows: str) -> None:
        self._cursor.execute("SET session_replication_role = replica")
        self._cursor.execute(f"DELETE FROM {table}")
        self._cursor.execute(f"INSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, %s)", [rows])
        self._cursor.execute("RESET session_replication_role")


@contextmanager
def session(url: str) -> Iterator[Any]:
    """A cursor of a session of its own, in which each statement is a transaction."""
    with closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            yield cursor
