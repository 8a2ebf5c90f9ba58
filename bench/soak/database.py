"""What PostgreSQL holds: connections, its processes' memory, tables and indexes, dead rows, and its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import psutil
import psycopg2
from sqlalchemy.engine import make_url

from bench.soak.processes import Sample, add

#: As the soak's own sessions name themselves; they are no part of what is judged.
OWN = "soak"
_SESSIONS = """
    SELECT pid, CASE WHEN backend_type = 'client backend' THEN coalesce(nullif(application_name, ''), 'unnamed')
                     ELSE 'background' END
      FROM pg_stat_activity WHERE pid <> pg_backend_pid()"""
_TABLES = """
    SELECT relname, pg_table_size(relid), n_dead_tup FROM pg_stat_user_tables WHERE schemaname = 'public'"""
_INDEXES = (
    "SELECT indexrelname, relname, pg_relation_size(indexrelid) FROM pg_stat_user_indexes WHERE schemaname = 'public'"
)
_LOG = "SELECT coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()"
_READY = "SELECT count(*) FROM broker_message"
#: Between two counts of all rows, which reads them.
_COUNT_EACH = 3


@dataclass
class Database:
    """One session that looks.  address: of the database; of: the table of each index."""

    connection: Any
    address: str
    of: dict[str, str]
    _looks: int = 0

    @classmethod
    def at(cls, admin_url: str, database: str | None) -> Database:
        """Connect as the superuser, who sees all sessions."""
        place = make_url(admin_url).set(drivername="postgresql", database=database)
        address = place.render_as_string(hide_password=False)
        connection = psycopg2.connect(address, application_name=OWN)
        connection.autocommit = True
        return cls(connection, address, {})

    def ask(self, statement: str, given: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """All rows of a statement."""
        with self.connection.cursor() as cursor:
            cursor.execute(statement, given)
            return list(cursor.fetchall())

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Nobody else may write into a table, by a session of its own, so that this one sees what waits."""
        with closing(psycopg2.connect(self.address, application_name=OWN)) as holding, holding.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table} IN SHARE MODE")
            yield

    def look(self) -> Sample:
        """One sample; every third one counts the rows as well."""
        found = self._sessions()
        for table, size, dead in self.ask(_TABLES):
            found["table bytes", table] = size
            found["dead rows", "all tables"] += dead
        for index, table, size in self.ask(_INDEXES):
            self.of[index] = table
            found["index bytes", index] = size
        found["log bytes", "pg_wal"] = self.ask(_LOG)[0][0]
        found["messages", "unfinished"] = self.ask(_READY)[0][0]
        if self._looks % _COUNT_EACH == 0:
            tables = sorted(name for what, name in found if what == "table bytes")
            counts = ", ".join(f'(SELECT count(*) FROM "{table}")' for table in tables)
            found |= {
                ("rows", table): rows for table, rows in zip(tables, self.ask(f"SELECT {counts}")[0], strict=True)
            }
        self._looks += 1
        return found

    def _sessions(self) -> Sample:
        found: Sample = Sample()
        for pid, name in self.ask(_SESSIONS):
            if name == OWN:
                continue
            if name != "background":
                found["connections", name] += 1
            try:
                add(found, psutil.Process(pid), f"PostgreSQL, {name}")
            except psutil.Error:  # it has ended since
                continue
        return found
