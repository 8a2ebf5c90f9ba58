"""`fairlane doctor` finds faults of schema, indexes and upkeep, and mends them beside the service (docs/adr/0083)."""

from __future__ import annotations

from pathlib import Path

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import Engine, create_engine, pool, text
from sqlalchemy.engine import make_url

from app import embedded
from app.migrate import head_revision, migrate
from app.services.operations.readiness import this_revision
from app.store.core.unit_of_work import UnitOfWork
from app.version import VERSION
from tests.conftest import World
from tests.contract.migrating import migrated_to
from tests.databases import run_sql
from tests.services.operations.doctoring import FLUSH, Doctor

BULK = """
    CREATE TABLE bulk (id bigint PRIMARY KEY, word text) WITH (autovacuum_enabled = false);
    INSERT INTO bulk SELECT n, repeat(md5(n::text), :width) FROM generate_series(1, :rows) n"""
INDEX = "SELECT indexdef FROM pg_indexes WHERE indexname = :name"


@pytest.fixture
def doctor(world: World, tmp_path: Path) -> Doctor:
    return Doctor(world, tmp_path)


def run(world: World, *statements: str, **values: object) -> None:
    for statement in statements:
        with world.uow.begin() as tx:
            tx.run(text(statement), **{name: value for name, value in values.items() if f":{name}" in statement})


def as_superuser(server: embedded.Server, world: World, statement: str) -> None:
    run_sql(make_url(server.admin_url).set(database=world.uow.engine.url.database), statement)


def counted(world: World, doctor: Doctor, check: str) -> None:
    """Until what the last statements changed is in the server's statistics."""
    run(world, FLUSH)
    wait_for(lambda: doctor.see(check).status == "found", "the server to have counted")


@pytest.mark.parametrize("name", ["job_events_job", "analysis_requests_accept", "reconciled_days_pkey"])
def test_a_missing_index_is_built_as_its_migration_builds_it(doctor: Doctor, world: World, name: str) -> None:
    before = world.value(INDEX, name=name)
    constraint = "ALTER TABLE reconciled_days DROP CONSTRAINT reconciled_days_pkey"
    run(world, constraint if name.endswith("_pkey") else f"DROP INDEX {name}")
    [row] = doctor.mend("indexes").rows
    assert (row["index"], row["fault"]) == (name, "is missing")
    assert world.value(INDEX, name=name) == before
    kept = "SELECT count(*) FROM pg_constraint WHERE conname = :name"
    assert world.value(kept, name=name) == int(name.endswith("_pkey"))


def test_an_invalid_index_is_built_anew_and_one_that_was_never_finished_is_removed(
    doctor: Doctor, world: World, server: embedded.Server
) -> None:
    run(world, "CREATE INDEX job_events_job_ccnew ON job_events (job_id)")
    spoil = "UPDATE pg_index SET indisvalid = false WHERE indexrelid IN ('job_events_job'::regclass, 'job_events_job_ccnew'::regclass)"
    as_superuser(server, world, spoil)
    rows = doctor.mend("indexes").rows
    assert {row["index"]: row["fault"] for row in rows} == {
        "job_events_job": "is invalid", "job_events_job_ccnew": "was never finished",
    }  # fmt: skip
    assert world.rows(INDEX, name="job_events_job_ccnew") == []


def test_a_key_that_has_to_be_the_newest_index_of_its_table_is_built_anew(doctor: Doctor, world: World) -> None:
    run(
        world,
        "DROP INDEX durable_ready_order",
        "CREATE INDEX durable_ready_order ON durable_ready (queue_id, rank, id)",
    )
    [row] = doctor.mend("indexes").rows
    assert (row["index"], row["fault"]) == ("durable_ready_pkey", "is older than another one")
    assert world.rows(INDEX, name="durable_ready_pkey_ccnew") == []


def test_a_unique_index_that_rows_break_is_named_and_not_built(doctor: Doctor, world: World) -> None:
    world.submit(world.user())
    run(
        world,
        "DROP INDEX analysis_requests_one_per_user",
        """
        INSERT INTO analysis_requests (job_id, codebase_id, commit_sha, user_id, role, trigger, queue, requested_at)
        SELECT job_id, codebase_id, commit_sha, user_id, 'joined', trigger, queue, requested_at FROM analysis_requests""",
    )
    found = doctor.see("indexes", fix=True)
    assert (found.status, str(found.mended).split(":")[0]) == ("found", "not all")
    assert "could not create unique index" in str(found.mended)


def test_dead_rows_are_removed(doctor: Doctor, world: World) -> None:
    run(world, *BULK.split(";"), "DELETE FROM bulk WHERE id > 100", width=1, rows=20_000)
    counted(world, doctor, "dead rows")
    mended = doctor.mend("dead rows")
    assert (mended.rows[0]["table"], mended.mended) == ("bulk", "vacuumed: bulk")


def test_old_statistics_are_made_anew(doctor: Doctor, world: World) -> None:
    run(world, *BULK.split(";"), width=1, rows=20_000)
    counted(world, doctor, "old statistics")
    assert doctor.mend("old statistics").rows[0]["table"] == "bulk"


def test_an_index_of_which_little_is_left_is_built_anew(doctor: Doctor, world: World) -> None:
    run(world, *BULK.split(";"), "ALTER TABLE bulk ALTER word SET STORAGE PLAIN", width=1, rows=1)  # not compressed
    run(world, "INSERT INTO bulk SELECT n, repeat(md5(n::text), 25) FROM generate_series(2, 90000) n")
    run(world, "CREATE INDEX bulk_word ON bulk (word)", "DELETE FROM bulk WHERE id % 20 > 0")
    with world.uow.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in (FLUSH, "VACUUM ANALYZE bulk", FLUSH):
            connection.exec_driver_sql(statement)
    counted(world, doctor, "bloated indexes")
    [row] = doctor.mend("bloated indexes").rows
    assert (row["index"], row["table"]) == ("bulk_word", "bulk")


def test_what_belongs_to_another_role_is_left_to_its_owner(
    doctor: Doctor, world: World, server: embedded.Server
) -> None:
    run(world, *BULK.split(";"), width=1, rows=20_000)
    as_superuser(server, world, "ALTER TABLE bulk OWNER TO fairlane_owner; GRANT SELECT ON bulk TO PUBLIC")
    counted(world, doctor, "old statistics")
    found = doctor.see("old statistics", fix=True)
    assert (found.status, found.mended) == ("found", "nothing: the role does not own bulk: set DATABASE_OWNER_URL")


@pytest.fixture
def engine(empty_url: str) -> Engine:
    return create_engine(empty_url, poolclass=pool.NullPool)


def test_a_schema_that_was_not_migrated_is_migrated_and_the_rest_checked_then(engine: Engine, tmp_path: Path) -> None:
    doctor = Doctor(World(UnitOfWork(engine)), tmp_path, migrate=lambda: migrate(engine))
    assert doctor.see("schema").rows == [
        {"schema": f"the schema is not there; this release {VERSION} needs {this_revision()}"}
    ]
    assert doctor.see("leaked slots").status == "unknown"
    migrated_to(engine, "0055")
    assert doctor.mend("schema").mended == f"migrated to {head_revision()}"
    assert doctor.see("indexes").status == "ok"


def test_a_newer_schema_is_named_and_left_alone(doctor: Doctor, world: World) -> None:
    run(world, "UPDATE alembic_version SET version_num = '9999'", "UPDATE schema_support SET oldest_version = '98.0'")
    found = doctor.see("schema", fix=True)
    assert (found.status, str(found.mended)) == (
        "found", "nothing: the schema is newer: use the release that it is of, or the one before that",
    )  # fmt: skip
    assert doctor.see("indexes").status == "unknown"
