"""The pulse of a job whose worker stands still (docs/adr/0003)."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.domain.queues import Service
from app.services.jobs import heartbeat
from app.store.unit_of_work import Tx, UnitOfWork
from tests.conftest import World


def test_a_heartbeat_that_stood_still_before_its_progress_writes_none(world: World) -> None:
    user = world.user()
    zombie = world.running(user)

    class Slow(UnitOfWork):
        """Between two of its transactions the job is lost, and started again."""

        @contextmanager
        def begin(self) -> Iterator[Tx]:
            with world.uow.begin() as tx:
                yield tx
            if world.value("SELECT lease_token FROM kombu_message") == zombie.lease_token:
                world.lose(zombie.job_id)
                world.start(world.lease(zombie.job_id), user)

    heartbeat.beat(Slow(world.uow.engine), Service.ANALYSIS, zombie, world.policy, ("parsing", 1, 2))
    assert world.rows("SELECT attempt, progress FROM analyses") == [{"attempt": 2, "progress": None}]
