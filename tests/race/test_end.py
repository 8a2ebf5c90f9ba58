"""The end of a job against everything that touches it at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.heartbeat import beat
from tests.conftest import World

ROUNDS = 150


def test_a_heartbeat_and_a_finish_of_one_job_never_wait_for_each_other_in_a_circle(world: World) -> None:
    user = world.user(Tier.ENTERPRISE)
    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as threads:
        for number in range(ROUNDS):
            delivery = world.running(user)

            def pulse(delivery=delivery, number=number) -> object:
                barrier.wait()
                return beat(world.uow, delivery, world.policy, ("parsing", number, ROUNDS))

            def end(delivery=delivery) -> Outcome:
                barrier.wait()
                return world.finish(delivery, user)

            pulsed, ended = threads.submit(pulse), threads.submit(end)
            pulsed.result()
            assert ended.result() is Outcome.COMPLETED
    assert world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


def test_two_workers_of_one_user_finishing_and_starting_at_once_never_deadlock(world: World) -> None:
    user = world.user(Tier.PRO)
    barrier = Barrier(6)

    def churn(share: int) -> int:
        barrier.wait()
        done = 0
        for _ in range(15):
            delivery = world.lease(world.submit(user))
            if world.start(delivery, user) is Outcome.STARTED:
                assert world.finish(delivery, user) is Outcome.COMPLETED
                done += 1
        return done

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(churn, range(6))) > 0
    assert world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0
    assert world.value("SELECT count(*) FROM execution_slots") == 0
