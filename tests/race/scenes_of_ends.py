"""Starts and ends of jobs that meet each other, or an accept of the same user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.errors import Conflict, QuotaExceeded
from app.services.jobs.answers import Answer
from app.services.jobs.heartbeat import Pulse, beat
from tests.conftest import World
from tests.race.scenes import (
    Make,
    Scene,
    accepting,
    cancelling,
    cleaning_up,
    finishing,
    starting,
    status_of,
)
from tests.services.busy import account


def an_accept_beside_a_finish_of_its_user_at_the_limit(world: World) -> Scene:
    user = world.user(analyses=2)
    world.submit(user)
    delivery = world.running(user)

    def check(refused: Any, ended: Outcome) -> None:
        assert (type(refused), ended) == (QuotaExceeded, Outcome.COMPLETED)
        assert refused.extensions["used"] + refused.extensions["reserved"] == refused.extensions["limit"] == 2

    return Scene((accepting(user, world.wanted()), finishing(world, delivery, user)), check)


def an_accept_of_the_last_unit_beside_a_finish_of_its_user(world: World) -> Scene:
    user = world.user(analyses=2)
    delivery = world.running(user)

    def check(answer: Answer, ended: Outcome) -> None:
        assert (answer.is_known, ended) == (False, Outcome.COMPLETED)
        assert status_of(world, answer.job.id) == "queued"

    return Scene((accepting(user, world.wanted()), finishing(world, delivery, user)), check)


def a_finish_beside_the_clean_up(world: World) -> Scene:
    user = world.user(analyses=2)
    delivery = world.running(user)

    def check(ended: Outcome, swept: Any) -> None:
        assert (ended, swept.orphans, swept.buried) == (Outcome.COMPLETED, 0, 0)

    return Scene((finishing(world, delivery, user), cleaning_up), check)


def a_finish_beside_the_rescue_of_its_lease(world: World) -> Scene:
    """The rescuer's node then runs the job a second time, while the first worker may still be finishing."""
    user = world.user(analyses=2)
    delivery = world.running(user)
    dead = delivery.job_id.int % 2**60
    world.rows(
        "UPDATE kombu_message SET lease_owner = :dead WHERE task_id = :id RETURNING id",
        dead=dead,
        id=str(delivery.job_id),
    )

    listing = world.saved()

    def rescue(world: World) -> Outcome | None:
        with world.uow.begin() as tx:
            taken = tx.run(text("SELECT durable_rescue(:dead, clock_timestamp(), 100)"), dead=dead).scalar_one()
        if not taken:
            return None
        again = world.lease(delivery.job_id)
        assert (again.lost_count, again.attempt) == (1, 2)
        assert world.start(again, user) is Outcome.STARTED
        return world.finish(again, user, listing=listing)

    def check(first: Outcome, second: Outcome | None) -> None:
        assert (first, second) in {(Outcome.COMPLETED, None), (Outcome.STALE, Outcome.COMPLETED)}

    return Scene((finishing(world, delivery, user), rescue), check)


def a_cancel_beside_a_finish(world: World) -> Scene:
    user = world.user(analyses=2)
    delivery, who = world.running(user), account(world, user)

    def check(left: Any, ended: Outcome) -> None:
        assert (type(left), ended) in {(type(None), Outcome.CANCELLED), (Conflict, Outcome.COMPLETED)}
        assert status_of(world, delivery.job_id) == ended.value

    return Scene((cancelling(delivery.job_id, who), finishing(world, delivery, user)), check)


def a_cancel_beside_a_start(world: World) -> Scene:
    user = world.user(analyses=2)
    delivery, who = world.lease(world.submit(user)), account(world, user)

    def check(left: Any, begun: Outcome) -> None:
        assert left is None
        status = status_of(world, delivery.job_id)
        assert (begun, status) in {(Outcome.STALE, "cancelled"), (Outcome.STARTED, "running")}
        if begun is Outcome.STARTED:
            assert beat(world.uow, Service.ANALYSIS, delivery, world.policy, None) is Pulse.STOP
            assert world.finish(delivery, user) is Outcome.CANCELLED

    return Scene((cancelling(delivery.job_id, who), starting(delivery, user)), check)


def two_starts_for_one_slot(world: World) -> Scene:
    user = world.user(analyses=2)
    deliveries = [world.lease(world.submit(user)) for _ in range(2)]

    def check(*outcomes: Outcome) -> None:
        assert sorted(outcomes) == [Outcome.SNOOZED, Outcome.STARTED]

    return Scene(tuple(starting(delivery, user) for delivery in deliveries), check)


def a_start_beside_the_finish_that_frees_its_slot(world: World) -> Scene:
    user = world.user(analyses=2)
    running, waiting = world.running(user), world.lease(world.submit(user))

    def check(begun: Outcome, ended: Outcome) -> None:
        assert ended is Outcome.COMPLETED
        assert (begun, status_of(world, waiting.job_id)) in {(Outcome.STARTED, "running"), (Outcome.SNOOZED, "queued")}

    return Scene((starting(waiting, user), finishing(world, running, user)), check)


def a_heartbeat_beside_a_finish(world: World) -> Scene:
    user = world.user(Tier.PRO)
    delivery = world.running(user)

    def check(pulse: Pulse, ended: Outcome) -> None:
        assert ended is Outcome.COMPLETED
        assert pulse in {Pulse.GO_ON, Pulse.LOST}

    return Scene(
        (
            lambda w: beat(w.uow, Service.ANALYSIS, delivery, w.policy, ("parsing", 1, 2)),
            finishing(world, delivery, user),
        ),
        check,
    )


SCENES: Sequence[Make] = (
    an_accept_beside_a_finish_of_its_user_at_the_limit,
    an_accept_of_the_last_unit_beside_a_finish_of_its_user,
    a_finish_beside_the_clean_up,
    a_finish_beside_the_rescue_of_its_lease,
    a_cancel_beside_a_finish,
    a_cancel_beside_a_start,
    two_starts_for_one_slot,
    a_start_beside_the_finish_that_frees_its_slot,
    a_heartbeat_beside_a_finish,
)
