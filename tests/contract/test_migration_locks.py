"""No migration stops the service: what blocks writers changes the catalog only, and the rest lets them go on."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, pool, text

from app import migrate as migrating
from tests.contract.migrating import migrated_to
from tests.contract.migration_locks import Record, recorded, undeclared
from tests.databases import Databases

SCRIPTS = ScriptDirectory.from_config(migrating._config())
REVISIONS = [script.revision for script in SCRIPTS.walk_revisions()][::-1]
#: Older ones ran before anybody had many rows.
FIRST = "0038"
CHECKED = [revision for revision in REVISIONS if revision >= FIRST]


@pytest.fixture(scope="module")
def records(databases: Databases) -> Iterator[dict[str, Record]]:
    found = {}
    with databases.new() as url:
        engine = create_engine(url, poolclass=pool.NullPool)
        for revision in REVISIONS:
            with recorded(engine) as record:
                migrated_to(engine, revision)
            found[revision] = record
        engine.dispose()
        yield found


@pytest.mark.parametrize("revision", CHECKED)
def test_a_migration_neither_reads_nor_writes_whole_tables_in_a_transaction(
    records: dict[str, Record], revision: str
) -> None:
    assert records[revision].faults == []


@pytest.mark.parametrize("revision", CHECKED)
def test_a_migration_declares_the_locks_that_writers_wait_for(records: dict[str, Record], revision: str) -> None:
    """`fairlane migrate --plan` prints them.  If this fails, put LOCKS = {table: lock} into the migration."""
    assert undeclared(records[revision], SCRIPTS.get_revision(revision).module) == {}, records[revision].locks


@pytest.fixture
def engine(databases: Databases) -> Iterator[Engine]:
    with databases.copy() as url:
        made = create_engine(url, poolclass=pool.NullPool)
        yield made
        made.dispose()


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("CREATE INDEX plain ON job_events (at)", "job_events is read from end to end"),
        ("CREATE UNIQUE INDEX plain ON job_events (at)", "job_events is read from end to end"),
        ("ALTER TABLE job_events ADD COLUMN mark uuid DEFAULT gen_random_uuid()", "job_events is written anew"),
        ("ALTER TABLE job_events ADD COLUMN n bigint GENERATED ALWAYS AS IDENTITY", "job_events is written anew"),
        ("ALTER TABLE job_events ADD COLUMN l int GENERATED ALWAYS AS (length(event)) STORED", "is written anew"),
        ("ALTER TABLE analyses ALTER COLUMN attempt TYPE bigint", "analyses is written anew"),
        ("ALTER TABLE analyses ADD CHECK (attempt > 0)", "analyses is read from end to end"),
        ("ALTER TABLE analyses ADD UNIQUE (id, attempt)", "analyses is read from end to end"),
        ("ALTER TABLE job_events ADD FOREIGN KEY (job_id) REFERENCES analyses", "job_events is read from end to end"),
        ("ALTER TABLE analyses ALTER COLUMN summary SET NOT NULL", "analyses is read from end to end"),
        ("ALTER TABLE job_events SET UNLOGGED", "job_events is written anew"),
        ("CLUSTER analyses USING analyses_pkey", "analyses is written anew"),
        ("UPDATE job_events SET facts = '{}'", "job_events is read from end to end"),
        ("DELETE FROM job_events", "job_events is read from end to end"),
        ("CREATE TABLE copy AS SELECT * FROM job_events", "job_events is read from end to end"),
    ],
)
def test_each_change_that_takes_as_long_as_its_table_is_large_is_found(
    engine: Engine, statement: str, fault: str
) -> None:
    with recorded(engine) as record, engine.begin() as connection:
        connection.execute(text(statement))
    assert any(fault in found for found in record.faults), record


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE INDEX plain ON job_events (at)",
        "DROP INDEX job_events_snoozed",
        "ALTER TABLE job_events ADD COLUMN note text",
        "ALTER TABLE analyses ADD CHECK (attempt > 0) NOT VALID",
        "UPDATE job_events SET facts = '{}'",
        "VACUUM FULL job_events",
    ],
)
def test_outside_of_a_transaction_only_what_nobody_waits_for_is_let_through(engine: Engine, statement: str) -> None:
    with recorded(engine) as record, engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    assert record.faults == [f"outside of a transaction: {statement}"]


@pytest.mark.parametrize(
    ("statement", "lock"),
    [
        ("ALTER TABLE job_events ADD COLUMN note text NOT NULL DEFAULT ''", "ACCESS EXCLUSIVE"),
        ("ALTER TABLE job_events ADD CONSTRAINT told CHECK (event <> '') NOT VALID", "ACCESS EXCLUSIVE"),
        ("LOCK TABLE job_events IN SHARE MODE", "SHARE"),
        ("CREATE TABLE more (id bigint REFERENCES job_events)", "SHARE ROW EXCLUSIVE"),
    ],
)
def test_a_short_change_passes_if_its_lock_is_declared(engine: Engine, statement: str, lock: str) -> None:
    with recorded(engine) as record, engine.begin() as connection:
        connection.execute(text(statement))
    assert record.faults == []
    assert undeclared(record, SimpleNamespace()) == {"job_events": lock}
    assert undeclared(record, SimpleNamespace(LOCKS={"job_events": lock})) == {}
    assert undeclared(record, SimpleNamespace(LOCKS={"job_events": lock, "users": lock})) == {"users": lock}
