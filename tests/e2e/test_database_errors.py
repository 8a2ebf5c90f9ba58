"""Errors of the database cost no job an attempt: a worker backs off and goes on when it can."""

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text

from tests.e2e.conftest import System

FULL = "53100"
REFUSE = """
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'no space left on device' USING ERRCODE = '{code}'; END $$;
    CREATE TRIGGER refuse BEFORE {what} ON {table} FOR EACH STATEMENT EXECUTE FUNCTION refuse()"""
#: Deliveries that met the error: as many as there are attempts, and one more.
MET = 4
DELIVERIES = "SELECT delivery_count FROM kombu_message"
CHARGES = "SELECT retry_count + lost_count FROM kombu_message"


@pytest.mark.parametrize(
    ("code", "table"),
    [
        pytest.param(FULL, "execution_slots", id="when it starts", marks=pytest.mark.proof),
        pytest.param(FULL, "blob_facts", id="while it runs"),
        pytest.param("25006", "usage_events", id="when it ends", marks=pytest.mark.proof),
    ],
)
def test_a_refusal_of_the_database_spends_no_attempt(system: System, code: str, table: str) -> None:
    refuse(system, code, table, "INSERT")
    job_id = system.submit(system.user())
    system.nodes.worker()
    wait_for(lambda: (system.world.value(DELIVERIES) or 0) >= MET, "more deliveries than attempts")
    assert system.world.value(CHARGES) == 0
    assert system.job(job_id)["status"] in ("queued", "running")
    relent(system, table)
    job = system.wait(job_id, "completed", "failed")
    assert (job["status"], job["attempt"], job["billed"]) == ("completed", 1, True)


@pytest.mark.proof
def test_leases_that_could_not_be_renewed_are_no_lost_attempts(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    for _ in range(2):
        system.stalling_worker(LEASE_SECONDS="2", HEARTBEAT_SECONDS="0.6")
    system.wait(job_id, "running")
    refuse(system, FULL, "durable_lease", "UPDATE")  # no renewal
    refuse(system, FULL, "durable_ready", "INSERT")  # nor a poll, which would take the lease away
    overdue = "SELECT visible_at < clock_timestamp() - interval '2 s' FROM kombu_message"
    wait_for(lambda: system.world.value(overdue), "the lease to be over for long")
    for table in ("durable_lease", "durable_ready"):
        relent(system, table)
    system.go_on()
    job = system.wait(job_id, "completed", "failed")
    assert (job["status"], job["attempt"]) == ("completed", 1)


def refuse(system: System, code: str, table: str, what: str) -> None:
    with system.world.uow.begin() as tx:
        tx.run(text(REFUSE.format(code=code, table=table, what=what)))


def relent(system: System, table: str) -> None:
    with system.world.uow.begin() as tx:
        tx.run(text(f"DROP TRIGGER refuse ON {table}"))
