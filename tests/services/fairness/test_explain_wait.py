"""The reason that a job is told for its wait is the true one."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import text

from app.domain.lifecycle import Failure, Outcome
from app.services.jobs import read_jobs
from tests.conftest import World

PAUSE = "UPDATE kombu_queue SET paused_at = now() WHERE name = 'analysis_default' RETURNING id"
#: What a node holds for as long as it has nothing to do for a queue.
SLEEP = text("""
    SELECT pg_advisory_lock_shared(hashtext(broker_channel() || ' asleep'), id) FROM kombu_queue WHERE name = :queue""")


def reason(world: World, job_id: UUID) -> str:
    return str(read_jobs.job(world.uow, job_id, None, world.policy, now=world.now).wait.reason)


def snoozed(world: World) -> UUID:
    user = world.user()
    world.running(user)
    job_id = world.submit(user)
    assert world.start(world.lease(job_id), user) is Outcome.SNOOZED
    return job_id


def parked(world: World) -> UUID:
    user = world.user()
    return [world.submit(user) for _ in range(3)][-1]


def retrying(world: World) -> UUID:
    user = world.user()
    delivery = world.running(user)
    world.fail(delivery, user, Failure("git_failed", "The host is away.", retryable=True))
    return delivery.job_id


def ready(world: World) -> UUID:
    return world.submit(world.user())


@pytest.mark.parametrize(
    ("make", "otherwise"),
    [(snoozed, "user_at_limit"), (parked, "user_at_limit"), (retrying, "backoff"), (ready, "starting")],
)
def test_a_paused_queue_is_told_before_any_other_reason(world: World, make: object, otherwise: str) -> None:
    job_id = make(world)  # type: ignore[operator]
    assert reason(world, job_id) == otherwise
    world.rows(PAUSE)
    assert reason(world, job_id) == "queue_paused"


def test_a_job_that_a_free_worker_takes_is_starting_though_others_run(world: World) -> None:
    world.running(world.user())
    job_id = world.submit(world.user())
    assert reason(world, job_id) == "workers_busy"
    with world.uow.engine.connect() as node:
        node.execute(SLEEP, {"queue": "analysis_priority"})
        assert reason(world, job_id) == "workers_busy"  # another queue's worker
        node.execute(SLEEP, {"queue": "analysis_default"})
        assert reason(world, job_id) == "starting"
        node.execute(text("SELECT pg_advisory_unlock_all()"))
    assert reason(world, job_id) == "workers_busy"
