"""Errors of the database cost no job an attempt: a worker backs off and goes on when it can."""

import re
import time
from collections.abc import Iterator

import pytest
from durable_harness.proxy import Proxy
from durable_harness.waiting import wait_for
from sqlalchemy import text
from sqlalchemy.engine import make_url

from tests.e2e.conftest import System
from tests.nodes import LocalWorker

pytestmark = pytest.mark.proof

FULL = "53100"
FUNCTION = """
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'no space left on device' USING ERRCODE = '{code}'; END $$"""
REFUSE = "CREATE TRIGGER refuse BEFORE {what} ON {table} FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
RELENT = "DROP TRIGGER refuse ON {table}"
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


def test_leases_that_could_not_be_renewed_are_no_lost_attempts(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    workers = [system.stalling_worker(HEARTBEAT_SECONDS="0.6") for _ in range(2)]
    system.wait(job_id, "running")
    refuse(system, FULL, "durable_ready", "INSERT")  # no poll, which would take the lease away
    with system.world.uow.begin() as tx:
        tx.run(text("LOCK TABLE durable_lease IN SHARE ROW EXCLUSIVE MODE"))
        tx.run(text("UPDATE durable_lease SET until = clock_timestamp() - interval '3 s'"))
        tx.run(text(REFUSE.format(what="UPDATE", table="durable_lease")))  # nor a renewal
    wait_for(lambda: any(says(worker, "renewal_failed") for worker in workers), "a renewal to be refused")
    for worker in workers:
        wait_for(lambda worker=worker: says(worker, "broker_statement_refused"), "a poll to be refused")
    relent(system, "durable_lease")
    relent(system, "durable_ready")
    renewed = "SELECT until > clock_timestamp() FROM durable_lease"
    wait_for(lambda: system.world.value(renewed), "the lease to be renewed")
    system.go_on()
    job = system.wait(job_id, "completed", "failed")
    assert (job["status"], job["attempt"]) == ("completed", 1)


@pytest.fixture
def proxy(system: System) -> Iterator[Proxy]:
    """Before the database."""
    proxy = Proxy(make_url(system.nodes.database_url).port or 5432)
    proxy.start()
    yield proxy
    proxy.thaw()
    proxy.close()


def test_a_process_that_waits_for_a_silent_database_as_it_starts_is_left_alone(system: System, proxy: Proxy) -> None:
    far = make_url(system.nodes.database_url).set(port=proxy.port).render_as_string(hide_password=False)
    # the node itself does not wait with its process, so that it can judge it
    worker = system.nodes.worker(DATABASE_URL=far, DATABASE_DIRECT_URL=system.nodes.database_url)
    system.wait(system.submit(system.user(), "first"), "completed")  # a node says that it is ready a moment before
    proxy.freeze()
    [first] = worker.container.children()
    first.kill()
    [heir] = wait_for(lambda: [one for one in worker.container.children() if one.pid != first.pid], "another process")
    began = time.monotonic()
    wait_for(lambda: time.monotonic() > began + 5 or not heir.is_running(), "what Celery waits for by itself to pass")
    assert heir.is_running()
    assert "Timed out waiting for UP" not in worker.container.logs()
    proxy.thaw()
    job = system.wait(system.submit(system.user()), "completed", "failed")
    assert job["status"] == "completed"
    assert "Timed out waiting for UP" not in worker.container.logs()


def says(worker: LocalWorker, event: str) -> bool:
    """Whether its broker has logged the event."""
    return re.search(rf"{event} .*celery_durable", worker.container.logs()) is not None


def refuse(system: System, code: str, table: str, what: str) -> None:
    """One table a transaction: the workers lock several, in an order of their own, and two at once may deadlock."""
    with system.world.uow.begin() as tx:
        tx.run(text(FUNCTION.format(code=code)))
        tx.run(text(REFUSE.format(what=what, table=table)))


def relent(system: System, table: str) -> None:
    with system.world.uow.begin() as tx:
        tx.run(text(RELENT.format(table=table)))
