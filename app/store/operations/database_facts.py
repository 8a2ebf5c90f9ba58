"""Facts about PostgreSQL that every role may read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_FACTS = text("""
    SELECT pg_database_size(current_database()) AS bytes, current_setting('server_version') AS version,
           CAST(current_setting('max_connections') AS integer) AS most_connections,
           (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
           coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start))::float8 FROM pg_stat_activity
                      WHERE datname = current_database() AND backend_type = 'client backend'
                        AND pid <> pg_backend_pid()), 0) AS oldest_transaction_seconds,
           CAST(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END
                - CAST('0/0' AS pg_lsn) AS bigint) AS wal_bytes""")
# Dead rows slow a queue down, so their table is shown even if it is small.
_TABLES = text("""
    SELECT name, bytes, live, dead, vacuumed_at
      FROM (SELECT relname AS name, pg_total_relation_size(relid) AS bytes, n_live_tup AS live, n_dead_tup AS dead,
                   greatest(last_vacuum, last_autovacuum) AS vacuumed_at,
                   row_number() OVER (ORDER BY pg_total_relation_size(relid) DESC) AS by_size,
                   row_number() OVER (ORDER BY n_dead_tup DESC) AS by_dead
              FROM pg_stat_user_tables) t
     WHERE by_size <= :most OR (by_dead <= :most AND dead > 0) ORDER BY bytes DESC""")


class DatabaseRow(NamedTuple):
    """The size of the database, and connections of the server.

    bytes: of the database; connections, most_connections: of the whole server; oldest_transaction_seconds: of those
    that the role may see, its own at least; wal_bytes: how long the log has ever become.
    """

    bytes: int
    version: str
    most_connections: int
    connections: int
    oldest_transaction_seconds: float
    wal_bytes: int


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The size of a table.  bytes: with indexes; live, dead: estimated rows; dead ones wait for vacuum."""

    name: str
    bytes: int
    live: int
    dead: int
    vacuumed_at: datetime | None


def facts(tx: Tx) -> DatabaseRow:
    """Read the server's facts about this database and itself."""
    return tx.run(_FACTS).value(DatabaseRow)


def tables(tx: Tx, *, most: int) -> list[TableFacts]:
    """The `most` largest ones, and the `most` with the most dead rows; largest first."""
    return tx.run(_TABLES, most=most).values(TableFacts)
