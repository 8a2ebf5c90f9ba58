"""What a database contains and who uses it, whatever its schema: before it is dumped or replaced."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# Counted by ANALYZE: for a question it is exact enough.
_READ = text("""
    SELECT CAST(current_setting('server_version_num') AS integer) / 10000 AS major,
           (SELECT count(*) FROM pg_class c
             WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT EXISTS (
                   SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')) AS tables,
           (SELECT CAST(coalesce(max(n_live_tup), 0) AS bigint) FROM pg_stat_user_tables
             WHERE schemaname = 'public' AND relname = 'users') AS accounts,
           (SELECT CAST(coalesce(max(n_live_tup), 0) AS bigint) FROM pg_stat_user_tables
             WHERE schemaname = 'public' AND relname = 'analysis_requests') AS jobs""")
_HAS_NODES = text("SELECT to_regclass('broker_node') IS NOT NULL")
_NODES = text("SELECT 'node ' || name FROM broker_node WHERE is_alive ORDER BY name")
_PROGRAMS = text("""
    SELECT DISTINCT application_name || ' (process ' || pid || ' of PostgreSQL)' FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND application_name IN ('fairlane web', 'fairlane worker', 'fairlane up') ORDER BY 1""")


class ContentsRow(NamedTuple):
    """Numbers of a database.  major: the server's version; accounts, jobs: about how many."""

    major: int
    tables: int
    accounts: int
    jobs: int


def read(tx: Tx) -> ContentsRow:
    """Count tables, accounts and jobs."""
    return tx.run(_READ).value(ContentsRow)


def living_nodes(tx: Tx) -> list[str]:
    """The nodes that have a session with this database."""
    return list(tx.run(_NODES).scalars()) if tx.run(_HAS_NODES).scalar_one() else []


def programs(tx: Tx) -> list[str]:
    """Other programs of the service that have one."""
    return list(tx.run(_PROGRAMS).scalars())
