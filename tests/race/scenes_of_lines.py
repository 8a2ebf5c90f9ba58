"""Jobs that move from one user's line into another's while something happens in either (docs/adr/0046)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.jobs.answers import Answer
from tests.conftest import World
from tests.race.scenes import Make, Scene, accepting, cancelling, finishing, starting
from tests.services.busy import account

CARRIER = "SELECT user_id FROM kombu_message WHERE task_id = :id"


def carrier_of(world: World, job_id: object) -> object:
    return world.value(CARRIER, id=str(job_id))


def a_join_beside_the_finish_that_wakes_the_job(world: World) -> Scene:
    payer, joiner, wanted = world.user(), world.user(Tier.PRO), world.wanted()
    delivery = world.running(payer)
    for _ in range(2):
        world.submit(payer)
    job_id = world.submit(payer, wanted)

    def check(answer: Answer, ended: Outcome) -> None:
        assert (answer.is_known, ended) == (False, Outcome.COMPLETED)
        assert carrier_of(world, job_id) == str(joiner)
        assert answer.job.queue == "analysis_priority"

    return Scene((accepting(joiner, wanted), finishing(world, delivery, payer)), check)


def a_join_beside_the_start_of_the_job(world: World) -> Scene:
    payer, joiner, wanted = world.user(), world.user(Tier.PRO), world.wanted()
    delivery = world.lease(world.submit(payer, wanted))

    def check(answer: Answer, started: Outcome) -> None:
        assert (answer.is_known, started) == (False, Outcome.STARTED)
        assert carrier_of(world, delivery.job_id) == str(payer)
        slots = world.rows("SELECT user_id FROM execution_slots WHERE job_id = :id", id=delivery.job_id)
        assert slots == [{"user_id": payer}]

    return Scene((accepting(joiner, wanted), starting(delivery, payer)), check)


def two_users_of_the_same_job_at_once(world: World) -> Scene:
    payer, first, second, wanted = world.user(), world.user(Tier.PRO), world.user(Tier.ENTERPRISE), world.wanted()
    for _ in range(2):
        world.submit(payer)
    job_id = world.submit(payer, wanted)

    def check(*answers: Answer) -> None:
        assert {answer.job.id for answer in answers} == {job_id}
        assert carrier_of(world, job_id) in {str(first), str(second)}

    return Scene((accepting(first, wanted), accepting(second, wanted)), check)


def two_users_who_join_each_others_jobs(world: World) -> Scene:
    one, other, mine, theirs = world.user(), world.user(), world.wanted(), world.wanted()
    for user, wanted in ((one, mine), (other, theirs)):
        for _ in range(2):
            world.submit(user)
        world.submit(user, wanted)

    def check(*answers: Answer) -> None:
        assert [answer.is_known for answer in answers] == [False, False]

    return Scene((accepting(one, theirs), accepting(other, mine)), check)


def a_leave_of_the_carrier_beside_a_join(world: World) -> Scene:
    payer, carrier, third, wanted = world.user(), world.user(Tier.PRO), world.user(Tier.PRO), world.wanted()
    for _ in range(2):
        world.submit(payer)
    job_id = world.submit(payer, wanted)
    world.submit(carrier, wanted)

    def check(left: Any, answer: Answer) -> None:
        assert (left, answer.is_known) == (None, False)
        assert carrier_of(world, job_id) == str(third)

    return Scene((cancelling(job_id, account(world, carrier)), accepting(third, wanted)), check)


SCENES: Sequence[Make] = (
    a_join_beside_the_finish_that_wakes_the_job,
    a_join_beside_the_start_of_the_job,
    two_users_of_the_same_job_at_once,
    two_users_who_join_each_others_jobs,
    a_leave_of_the_carrier_beside_a_join,
)
