"""Several users of one job: who joins, leaves and comes back while it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.domain.lifecycle import Failure, Outcome
from app.errors import Conflict
from app.services.jobs.answers import Answer
from tests.conftest import World
from tests.race.scenes import (
    Make,
    Scene,
    accepting,
    cancelling,
    finishing,
    status_of,
)
from tests.services.busy import account


def an_accept_beside_the_finish_of_its_commit(world: World) -> Scene:
    payer, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()
    delivery = world.running(payer, wanted)

    def check(answer: Answer, ended: Outcome) -> None:
        assert ended is Outcome.COMPLETED
        assert answer.job.id == delivery.job_id
        assert (answer.is_known, answer.job.status) in {(False, "running"), (True, "completed")}

    return Scene((accepting(other, wanted), finishing(world, delivery, payer)), check)


def an_accept_beside_the_failure_of_its_commit(world: World) -> Scene:
    payer, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()
    delivery = world.running(payer, wanted)

    def check(answer: Answer, ended: Outcome) -> None:
        assert (ended, answer.job.id) == (Outcome.FAILED, delivery.job_id)
        assert (answer.is_known, answer.job.status) in {(False, "running"), (True, "failed")}
        assert status_of(world, delivery.job_id) == "failed"

    return Scene(
        (accepting(other, wanted), lambda w: w.fail(delivery, payer, Failure("too_large", "Too large."))), check
    )


def an_accept_beside_a_cancel_of_its_commit(world: World) -> Scene:
    payer, other, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()
    job_id, who = world.submit(payer, wanted), account(world, payer)

    def check(answer: Answer, left: Any) -> None:
        assert (answer.is_known, left) == (False, None)
        assert status_of(world, answer.job.id) == "queued"
        payers = "SELECT cancelled_at FROM analysis_requests WHERE job_id = :id AND role = 'payer'"
        assert world.value(payers, id=job_id) is not None

    return Scene((accepting(other, wanted), cancelling(job_id, who)), check)


def a_leave_of_the_payer_beside_the_finish(world: World) -> Scene:
    payer, joiner, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()
    delivery, who = world.running(payer, wanted), account(world, payer)
    world.submit(joiner, wanted)

    def check(left: Any, ended: Outcome) -> None:
        assert ended is Outcome.COMPLETED
        assert left is None or isinstance(left, Conflict)
        billed = world.rows("SELECT user_id FROM usage_events WHERE job_id = :id", id=delivery.job_id)
        assert billed == ([] if left is None else [{"user_id": payer}])

    return Scene((cancelling(delivery.job_id, who), finishing(world, delivery, payer)), check)


def a_return_of_the_payer_beside_the_finish(world: World) -> Scene:
    payer, joiner, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()
    delivery = world.running(payer, wanted)
    world.submit(joiner, wanted)
    cancelling(delivery.job_id, account(world, payer))(world)

    def check(answer: Answer, ended: Outcome) -> None:
        assert (ended, answer.job.id) == (Outcome.COMPLETED, delivery.job_id)
        billed = world.rows("SELECT user_id FROM usage_events WHERE job_id = :id", id=delivery.job_id)
        assert (answer.is_known, billed) in ((False, [{"user_id": payer}]), (True, []))

    return Scene((accepting(payer, wanted), finishing(world, delivery, payer)), check)


def a_return_of_the_payer_beside_the_last_leave(world: World) -> Scene:
    payer, joiner, wanted = world.user(analyses=2), world.user(analyses=2), world.wanted()
    job_id, who = world.submit(payer, wanted), account(world, joiner)
    world.submit(joiner, wanted)
    cancelling(job_id, account(world, payer))(world)

    def check(answer: Answer, left: Any) -> None:
        assert (answer.is_known, left) == (False, None)
        assert status_of(world, answer.job.id) == "queued"
        assert world.value("SELECT count(*) FROM quota_reservations WHERE user_id = :id", id=payer) == 1

    return Scene((accepting(payer, wanted), cancelling(job_id, who)), check)


SCENES: Sequence[Make] = (
    an_accept_beside_the_finish_of_its_commit,
    an_accept_beside_the_failure_of_its_commit,
    an_accept_beside_a_cancel_of_its_commit,
    a_leave_of_the_payer_beside_the_finish,
    a_return_of_the_payer_beside_the_finish,
    a_return_of_the_payer_beside_the_last_leave,
)
