"""The migration of the database, and which releases can serve it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib.resources import files

from sqlalchemy import Connection, text

from app.store.core.session import Session
from app.store.core.unit_of_work import Tx

_MIGRATED = text("SELECT to_regclass('alembic_version') IS NOT NULL")
_REVISION = text("SELECT version_num FROM alembic_version")
# reltuples is -1 before the first ANALYZE
_SIZES = text("""
    SELECT relname AS name, greatest(0, reltuples)::bigint AS rows, pg_total_relation_size(oid) AS bytes
      FROM pg_class WHERE oid = ANY (ARRAY(SELECT to_regclass(one) FROM unnest(CAST(:tables AS text[])) AS one))""")
_TELLS = text("SELECT to_regclass('schema_support') IS NOT NULL")
# a schema of before 0057 has no such columns
_SUPPORT = text("""
    SELECT to_jsonb(s) ->> 'version' AS version, to_jsonb(s) ->> 'oldest_version' AS oldest FROM schema_support AS s""")


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The schema of a database, and which releases it serves.

    revision: its newest migration, None before the first; version: that of the release which brought it, and oldest:
    that of the oldest release which works on it; both None in a schema of before 0.4.0.
    """

    revision: str | None
    version: str | None
    oldest: str | None


def revision(connection: Connection | Session) -> str | None:
    """The newest migration that ran; None before the first."""
    if not connection.execute(_MIGRATED).scalar_one():
        return None
    found: str | None = connection.execute(_REVISION).scalar_one_or_none()
    return found


def sizes(connection: Connection, tables: Collection[str]) -> dict[str, tuple[int, int]]:
    """Table -> about how many rows it has, and its bytes with indexes; without tables that do not exist."""
    return {row.name: (row.rows, row.bytes) for row in connection.execute(_SIZES, {"tables": list(tables)})}


def state(connection: Connection | Session) -> SchemaState:
    """Read the schema's revision and versions."""
    found = revision(connection)
    tells = connection.execute(_TELLS).scalar_one()
    support = connection.execute(_SUPPORT).one_or_none() if tells else None
    return SchemaState(found, *(support or (None, None)))


def needed() -> str:
    """The revision of this release: its newest migration.  Without Alembic, whose import takes 0.25 s."""
    names = [path.name for path in (files("migrations") / "versions").iterdir()]
    return max(name[:4] for name in names if name[:4].isdigit())


#: A record that is flushed with its commit, and rows that go through a temporary file: both fail on a full disk, a
#: standby or a read-only default.  Half a megabyte is more than existing files have room for.  Whether commits wait for
#: a standby is seen at those of others, as this one would wait as well.
_WRITE = text("""
    SELECT current_setting('transaction_read_only') = 'on' AS is_refused,
           EXISTS (SELECT FROM pg_stat_activity
                    WHERE wait_event = 'SyncRep' AND state_change < clock_timestamp() - interval '2 s') AS is_waiting,
           pg_logical_emit_message(true, 'fairlane', 'readyz'),
           (SELECT count(*) FROM (SELECT n FROM generate_series(1, 20000) AS n ORDER BY n DESC OFFSET 0) AS spilled)""")
_SMALL = text("SET LOCAL work_mem = '64kB'")
_ALONE = text("SET LOCAL synchronous_commit = local")


def writes(tx: Tx) -> str:
    """`ok`, or why the database accepts no writes; it is asked for one that leaves nothing.  A full disk raises."""
    tx.write(_SMALL)
    tx.write(_ALONE)
    found = tx.run(_WRITE).one()
    if found.is_refused:
        return "read-only"
    return "waiting for a synchronous standby" if found.is_waiting else "ok"
