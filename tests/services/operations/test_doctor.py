"""`fairlane doctor` finds what jobs, nodes and hosts leave behind, says what it means, and mends it (docs/adr/0083)."""

from __future__ import annotations

import json
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.equal_settings import MAY_DIFFER, digests
from app.services.operations.doctor import CHECKS
from app.settings import Settings, load
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World
from tests.services.busy import fill
from tests.services.operations.doctoring import Doctor

AN_HOUR_AGO = "clock_timestamp() - interval '1 hour'"
#: One that is in no table: as a node that died has it.
LOCK = 424242


@pytest.fixture
def doctor(world: World, tmp_path: Path) -> Doctor:
    return Doctor(world, tmp_path)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy server may answer late."""
    monkeypatch.setattr("app.cli.doctor.HEARING_SECONDS", 60.0)
    for name in ("check", "examine"):
        module = import_module(f"app.services.operations.doctor.{name}")
        monkeypatch.setattr(module, "WITHIN", timedelta(seconds=60))


def run(world: World, statement: str, **values: object) -> None:
    with world.uow.begin() as tx:
        tx.run(text(statement), **values)


def test_a_slot_that_a_worker_left_is_given_back(doctor: Doctor, world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    living = world.running(world.user())
    world.lose(delivery.job_id)
    assert doctor.see("leaked slots").status == "ok"  # a start of the user may drop it at any moment
    run(world, f"UPDATE execution_slots SET lease_expires_at = {AN_HOUR_AGO}")
    [row] = doctor.mend("leaked slots").rows
    assert (row["job_id"], row["user_id"]) == (delivery.job_id, user)
    assert world.rows("SELECT job_id FROM execution_slots") == [{"job_id": living.job_id}]


@pytest.mark.parametrize("expires", ["yesterday", "tomorrow"])
def test_a_reservation_without_a_job_is_given_back_whenever_it_expires(
    doctor: Doctor, world: World, expires: str
) -> None:
    user = world.user(Tier.PRO)
    orphan, _ = world.submit(user), world.submit(user)
    run(world, "DELETE FROM kombu_message WHERE task_id = :id", id=str(orphan))
    run(world, "UPDATE quota_reservations SET expires_at = CAST(:at AS timestamptz)", at=expires)
    [row] = doctor.mend("orphaned reservations").rows
    assert (row["job_id"], row["reserved_amount"]) == (orphan, 1)
    assert world.value("SELECT count(*) FROM quota_reservations") == 1
    assert world.value("SELECT event FROM job_events WHERE job_id = :id ORDER BY id DESC LIMIT 1", id=orphan) == (
        "reservation_orphaned"
    )


@pytest.mark.parametrize("held", ["a lease", "a delay"])
def test_what_waits_beyond_its_lease_or_delay_is_made_ready(doctor: Doctor, world: World, held: str) -> None:
    job_id = world.submit(world.user())
    world.lease(job_id)
    if held == "a lease":
        run(world, f"UPDATE durable_lease SET until = {AN_HOUR_AGO}")
    else:
        statement = "UPDATE kombu_message SET lease_token = NULL, delay_reason = 'retry', visible_at = "
        run(world, statement + AN_HOUR_AGO)
    [row] = doctor.mend("stuck messages").rows
    assert (row["job_id"], row["queue"]) == (str(job_id), "analysis_default")
    assert world.value("SELECT count(*) FROM durable_ready") == 1


def test_a_lease_without_a_message_is_removed(doctor: Doctor, world: World) -> None:
    world.lease(world.submit(world.user()))
    run(world, f"UPDATE durable_lease SET until = {AN_HOUR_AGO}, id = id + 1000")
    assert doctor.mend("stuck messages").rows[0]["job_id"] is None
    assert world.value("SELECT count(*) FROM durable_lease") == 0


def test_what_a_dead_node_holds_is_taken_back(doctor: Doctor, world: World) -> None:
    job_id = world.submit(world.user())
    world.lease(job_id)
    run(world, "INSERT INTO kombu_node (lock, name) VALUES (:lock, 'gone:17')", lock=LOCK)
    run(world, "UPDATE durable_lease SET node = :lock, until = clock_timestamp() + interval '1 hour'", lock=LOCK)
    [row] = doctor.mend("dead nodes").rows
    assert (row["node"], row["leased"]) == ("gone:17", 1)
    assert world.status(job_id) == "queued"
    assert world.value("SELECT count(*) FROM durable_ready") == 1


def test_a_node_with_its_lock_is_no_fault_and_keeps_what_it_holds(doctor: Doctor, world: World) -> None:
    world.lease(world.submit(world.user()))
    run(world, "INSERT INTO kombu_node (lock, name) VALUES (:lock, 'here:18')", lock=LOCK)
    run(world, "UPDATE durable_lease SET node = :lock, until = clock_timestamp() + interval '1 hour'", lock=LOCK)
    with world.uow.engine.connect() as session:
        session.execute(text("SELECT pg_advisory_lock_shared(:lock)"), {"lock": LOCK})
        session.commit()
        assert doctor.see("dead nodes").status == "ok"
        run(world, "INSERT INTO kombu_node (lock, name) VALUES (17, 'gone:17')")
        doctor.mend("dead nodes")
        assert world.value("SELECT node FROM durable_lease") == LOCK
        session.execute(text("SELECT pg_advisory_unlock_all()"))


def test_a_job_that_runs_beyond_its_time_limit_is_named_and_left_to_the_operator(doctor: Doctor, world: World) -> None:
    delivery = world.running(world.user())
    assert doctor.see("overdue jobs").status == "ok"
    run(world, "UPDATE durable_lease SET started_at = clock_timestamp() - interval '30 minutes'")
    found = doctor.see("overdue jobs", fix=True)
    assert (found.status, found.rows[0]["job_id"], found.mended) == ("found", str(delivery.job_id), None)
    assert "Kill that node" in str(found.by_hand)


def test_parked_jobs_that_nobody_would_wake_are_woken(doctor: Doctor, world: World) -> None:
    user, other = world.user(), world.user()
    first, second, parked = (world.submit(user) for _ in range(3))
    for _ in range(4):
        world.submit(other)
    third = world.user()
    runs, ready, _ = (world.submit(third) for _ in range(3))
    world.start(world.lease(runs), third)
    run(world, "DELETE FROM kombu_message WHERE task_id = :id", id=str(ready))
    assert doctor.see("parked jobs without a runner").status == "ok"
    run(world, "DELETE FROM kombu_message WHERE task_id IN (:one, :two)", one=str(first), two=str(second))
    [row] = doctor.mend("parked jobs without a runner").rows
    assert (row["user_id"], row["service"], row["job_id"]) == (str(user), "analysis", str(parked))
    assert world.start(world.lease(parked), user) is Outcome.STARTED


def test_a_clock_that_is_off_is_named_with_its_host(doctor: Doctor, world: World) -> None:
    insert = "INSERT INTO host_clocks (host, program, ahead_seconds) VALUES (:host, 'fairlane web', :ahead)"
    run(world, insert, host="right", ahead=0.2)
    assert doctor.see("skewed clocks").status == "ok"
    run(world, insert, host="wrong", ahead=-90.0)
    found = doctor.see("skewed clocks", fix=True)
    assert [(row["host"], row["ahead_seconds"]) for row in found.rows] == [("wrong", -90.0)]
    assert "NTP" in str(found.by_hand)


def given(**values: str) -> Settings:
    return load({"SECRET_KEY": "the secret of this test", "FAIRLANE_HOME": "/nowhere", **values})


def written(world: World, host: str, settings: Settings) -> None:
    """Write the digests of a host's settings, which its processes write beside their clocks."""
    salt = world.value("SELECT uuid_send(settings_salt) FROM schema_support")
    insert = "INSERT INTO host_clocks (host, program, ahead_seconds, settings) VALUES (:host, 'fairlane web', 0, CAST(:s AS jsonb))"
    run(world, insert, host=host, s=json.dumps(digests(settings, bytes(salt))))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("name", "value"),
    [("SECRET_KEY", "another secret of this test"), ("FAIRNESS_FREE_LIMIT", "7"), ("ANALYSIS_TIME_LIMIT", "5m")],
)
def test_settings_that_differ_between_hosts_are_named_and_never_shown(
    doctor: Doctor, world: World, name: str, value: str
) -> None:
    written(world, "one", given())
    written(world, "two", given(WEB_CONCURRENCY="4", DATABASE_URL="postgresql://a@b/c"))
    assert doctor.see("different settings").status == "ok"
    written(world, "three", given(**{name: value}))
    rows = doctor.see("different settings", fix=True).rows
    assert {row["setting"] for row in rows} == {name}
    assert sorted(map(str, (row["processes"] for row in rows))) == [
        "['one (fairlane web)', 'two (fairlane web)']", "['three (fairlane web)']",
    ]  # fmt: skip
    kept = str(world.rows("SELECT settings FROM host_clocks"))
    assert value not in kept.replace('"', " ").split()
    assert "secret of" not in kept
    run(world, "UPDATE host_clocks SET measured_at = clock_timestamp() - interval '1 hour' WHERE host = 'three'")
    assert doctor.see("different settings").status == "ok"


def test_a_digest_says_nothing_without_the_salt_of_its_database() -> None:
    one, two = (digests(given(), uuid4().bytes) for _ in range(2))
    assert one.keys() == two.keys() == {name.upper() for name in Settings.model_fields} - unset()
    assert [name for name in one if one[name] == two[name]] == []
    assert {len(digest) for digest in one.values()} == {8}


def unset() -> set[str]:
    """Names that have no digest: they may differ, or have no value."""
    empty = {name for name, value in given() if value is None and not name.startswith("fairness")}
    return {name.upper() for name in MAY_DIFFER | empty}


def test_a_process_that_reads_the_clock_writes_its_settings(world: World) -> None:
    from app.store.core import host_settings

    host_settings.note(world.uow.engine, lambda salt: digests(given(), salt))
    world.uow.now()
    [row] = world.rows("SELECT settings FROM host_clocks")
    assert row["settings"] == digests(
        given(), bytes(world.value("SELECT uuid_send(settings_salt) FROM schema_support"))
    )  # type: ignore[call-overload]


def test_a_database_that_takes_no_writes_is_named(doctor: Doctor, world: World, database_url: str) -> None:
    assert doctor.see("disk").status == "ok"
    name = world.value("SELECT current_database()")
    run(world, f"ALTER DATABASE {name} SET default_transaction_read_only = on")  # for sessions that begin from now on
    engine = make_engine(database_url, pool_size=1)
    found = Doctor(World(UnitOfWork(engine)), doctor.folder).see("disk", fix=True)
    engine.dispose()
    run(world, f"ALTER DATABASE {name} RESET default_transaction_read_only")
    assert (found.status, found.rows) == ("found", [{"where": "the database", "writes": "read-only"}])


def test_what_takes_too_long_or_cannot_be_read_is_not_called_sound(doctor: Doctor, world: World) -> None:
    run(world, "ALTER TABLE host_clocks RENAME TO elsewhere")
    found = doctor.see("skewed clocks", fix=True)
    assert (found.status, found.why) == ("unknown", "the schema lacks what this release needs")


def test_jobs_in_every_state_are_no_fault(doctor: Doctor, world: World) -> None:
    fill(world)
    run(
        world,
        "DELETE FROM execution_slots s WHERE NOT EXISTS (SELECT FROM durable_lease l WHERE l.token = s.lease_token)",
    )
    said = {check.name: doctor.see(check.name) for check in CHECKS}
    assert {name: one.rows or one.why for name, one in said.items() if one.status != "ok"} == {}


def test_the_command_says_what_it_found_and_did_and_ends_with_1_until_it_is_mended(world: World, fairlane: Any) -> None:
    assert fairlane("doctor").exit_code == 0
    job_id = world.submit(world.user())
    run(world, "DELETE FROM kombu_message")
    said = fairlane("doctor")
    assert said.exit_code == 1, said.output
    assert f"job_id={job_id}" in said.stdout
    assert "nothing was changed" in said.stdout
    assert world.value("SELECT count(*) FROM quota_reservations") == 1
    mended = fairlane("doctor", "--fix", "--json")
    assert mended.exit_code == 0, mended.output
    [one] = [one for one in json.loads(mended.stdout) if one["status"] == "mended"]
    assert (one["name"], one["mended"]) == ("orphaned reservations", "1 reservations given back")
    assert [one["status"] for one in json.loads(fairlane("doctor", "--json").stdout)] == ["ok"] * len(CHECKS)


def test_ids_that_a_standby_lost_are_named(world: World, fairlane: Any) -> None:
    job_id, lost, message = world.submit(world.user()), uuid4(), f"msg_{uuid4().hex}"
    log = f"POST /api/v1/analyses 202 {lost}\nGET /api/v1/analyses/{job_id} 200\nwebhook-id: {message}\n{lost}\n"
    said = fairlane("doctor", "--ids", "-", "--json", input=log)
    assert json.loads(said.stdout) == {"looked_up": 3, "jobs": [str(lost)], "messages": [message]}
    assert said.exit_code == 1
    assert fairlane("doctor", "--ids", "-", input=str(job_id)).exit_code == 0
    assert str(lost) in fairlane("doctor", "--ids", "-", input=log).stdout
    assert fairlane("doctor", "--fix", "--ids", "-", input=log).exit_code == 2
