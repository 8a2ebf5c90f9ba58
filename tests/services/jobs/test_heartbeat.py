"""The heartbeat of a running job: one statement, which waits for nobody (docs/adr/0002)."""

import pytest
from sqlalchemy import text

from app.domain.lifecycle import Delivery
from app.domain.queues import Service
from app.services.jobs.heartbeat import Pulse, beat
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World

PARSING = ("parsing", 1, 2)
EXPIRES = "SELECT lease_expires_at FROM execution_slots"
LOCKS = {
    "record": "SELECT FROM analyses WHERE id = :job_id FOR UPDATE",
    "slot": "SELECT FROM execution_slots WHERE job_id = :job_id FOR UPDATE",
}


class OneTransaction(UnitOfWork):
    """Transactions that are begun are a mistake here."""

    def begin(self):
        raise AssertionError("a heartbeat is one statement, which the server begins and commits by itself")


@pytest.fixture
def running(world: World) -> Delivery:
    return world.running(world.user())


@pytest.mark.parametrize("progress", [PARSING, None])
def test_a_heartbeat_renews_the_slot_and_writes_progress_in_one_statement(
    world: World, running: Delivery, progress: tuple[str, int, int] | None
) -> None:
    before = world.value(EXPIRES)
    assert beat(OneTransaction(world.uow.engine), Service.ANALYSIS, running, world.policy, progress) is Pulse.GO_ON
    assert world.value(EXPIRES) > before
    told = {"phase": "parsing", "done": 1, "total": 2} if progress else None
    assert world.rows("SELECT progress FROM analyses") == [{"progress": told}]


def test_a_heartbeat_without_news_leaves_the_progress_as_it_is(world: World, running: Delivery) -> None:
    for progress in (PARSING, None):
        beat(world.uow, Service.ANALYSIS, running, world.policy, progress)
    assert world.rows("SELECT progress FROM analyses") == [{"progress": {"phase": "parsing", "done": 1, "total": 2}}]


@pytest.mark.parametrize("held", LOCKS)
def test_a_heartbeat_waits_for_no_lock_and_does_what_it_can(world: World, running: Delivery, held: str) -> None:
    before = world.value(EXPIRES)
    with world.uow.begin() as tx:
        tx.run(text(LOCKS[held]), job_id=running.job_id)
        assert beat(UnitOfWork(world.uow.engine), Service.ANALYSIS, running, world.policy, PARSING) is Pulse.GO_ON
        renewed = world.value(EXPIRES) > before
        told = world.rows("SELECT progress FROM analyses")[0]["progress"] is not None
    assert (renewed, told) == (held == "record", held == "slot")


def test_a_heartbeat_of_a_lost_lease_writes_nothing_and_tells(world: World, running: Delivery) -> None:
    world.lose(running.job_id)
    world.lease(running.job_id)
    before = world.value(EXPIRES)
    assert beat(world.uow, Service.ANALYSIS, running, world.policy, PARSING) is Pulse.LOST
    assert world.value(EXPIRES) == before
    assert world.rows("SELECT progress FROM analyses") == [{"progress": None}]
