"""How many messages to PostgreSQL the steps of a job take (bench/round_trips.py prints all of them)."""

from dataclasses import replace

import pytest

from app.domain.fairness import FairnessMode
from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.jobs.cancel import cancel
from tests.conftest import World
from tests.services.busy import account
from tests.services.jobs.conftest import Count


@pytest.mark.parametrize("mode", FairnessMode)
def test_a_start_takes_two_round_trips(piped: World, trips: Count, mode: FairnessMode) -> None:
    world = piped.with_policy(fairness=replace(piped.policy.fairness, mode=mode))
    user = world.user(Tier.ENTERPRISE)
    delivery = world.lease(world.submit(user))
    outcomes: list[Outcome] = []
    assert trips(lambda: outcomes.append(world.start(delivery, user))) == 2
    assert outcomes == [Outcome.STARTED]


def test_a_start_over_a_dead_workers_slot_takes_two_round_trips(piped: World, trips: Count) -> None:
    user = piped.user()
    delivery = piped.running(user)
    piped.lose(delivery.job_id)
    again = piped.lease(delivery.job_id)
    assert trips(lambda: piped.start(again, user)) == 2
    assert piped.rows("SELECT lease_token FROM execution_slots") == [{"lease_token": again.lease_token}]


def test_a_cancellation_of_a_queued_job_reads_its_status_and_not_its_description(piped: World, trips: Count) -> None:
    user = piped.user()
    job_id = piped.submit(user)
    asker = account(piped, user)
    assert trips(lambda: cancel(piped.uow, job_id, asker, piped.policy, now=piped.now)) == 10
    assert piped.status(job_id) == "cancelled"


def test_a_cancellation_of_a_running_job_reads_its_record_once(piped: World, trips: Count) -> None:
    user = piped.user()
    delivery = piped.running(user)
    asker = account(piped, user)
    assert trips(lambda: cancel(piped.uow, delivery.job_id, asker, piped.policy, now=piped.now)) == 8
