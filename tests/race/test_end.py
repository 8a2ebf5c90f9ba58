"""The end of a job against everything that touches it at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from durable_harness.waiting import wait_for

from app.domain.fairness import FairnessMode, FairnessPolicy
from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.services.analyses.submit import submit
from app.services.jobs.answers import Answer
from app.services.jobs.cancel import cancel
from app.services.jobs.heartbeat import beat
from app.store.accounts import users
from app.store.jobs import quota, requests
from tests.conftest import World
from tests.databases import LOCK_WAITS
from tests.services.busy import account

ROUNDS = 150


@pytest.mark.proof
def test_a_heartbeat_and_a_finish_of_one_job_never_wait_for_each_other_in_a_circle(world: World) -> None:
    user = world.user(Tier.ENTERPRISE)
    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as threads:
        for number in range(ROUNDS):
            delivery = world.running(user)

            def pulse(delivery=delivery, number=number) -> object:
                barrier.wait()
                return beat(world.uow, Service.ANALYSIS, delivery, world.policy, ("parsing", number, ROUNDS))

            def end(delivery=delivery) -> Outcome:
                barrier.wait()
                return world.finish(delivery, user)

            pulsed, ended = threads.submit(pulse), threads.submit(end)
            pulsed.result()
            assert ended.result() is Outcome.COMPLETED
    assert world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


@pytest.mark.proof
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


@pytest.mark.proof
def test_a_joiner_is_in_time_or_gets_a_job_of_their_own_when_the_payer_cancels_at_that_moment(world: World) -> None:
    world = world.with_policy(fairness=FairnessPolicy(mode=FairnessMode.OFF))  # nobody runs what is asked for
    payer, joiner = world.user(Tier.ENTERPRISE), world.user(Tier.ENTERPRISE)
    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as threads:
        for _ in range(ROUNDS):
            wanted = world.wanted()
            job_id = world.submit(payer, wanted)

            def leave(job_id=job_id) -> None:
                barrier.wait()
                cancel(world.uow, job_id, account(world, payer), world.policy, now=world.now)

            def join(wanted=wanted) -> Answer:
                barrier.wait()
                return submit(world.uow, joiner, wanted, world.policy, now=world.now)

            left, joined = threads.submit(leave), threads.submit(join)
            left.result()
            assert world.status(joined.result().job.id) == "queued"
    assert world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


def test_a_job_that_payer_and_joiner_leave_at_once_ends(world: World) -> None:
    payer, joiner, wanted = world.user(), world.user(), world.wanted()
    job_id = world.submit(payer, wanted)
    world.submit(joiner, wanted)
    with ThreadPoolExecutor(1) as threads:
        with world.uow.begin() as tx:  # the payer's cancel, held up before its commit
            users.lock(tx, payer)
            left = threads.submit(cancel, world.uow, job_id, account(world, joiner), world.policy, now=world.now)
            wait_for(lambda: world.value(LOCK_WAITS) == 1, "the joiner to wait for the payer's row")
            quota.release(tx, job_id)
            requests.withdraw(tx, job_id, payer, now=world.now)
        left.result()
    assert world.status(job_id) == "cancelled"
    assert world.value("SELECT count(*) FROM kombu_message") == 0
