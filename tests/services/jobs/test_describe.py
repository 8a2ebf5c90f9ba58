"""Many jobs are described together as each would be alone, in a bounded number of round trips."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from app.domain.lifecycle import Status
from app.domain.plans import Tier
from app.domain.queues import Service
from app.errors import NotFound
from app.services.jobs import describe, read_jobs
from app.services.jobs.heartbeat import beat
from app.services.results.read_repository import read_repository
from app.services.specifications import documents
from tests.conftest import World
from tests.services.busy import account, fill
from tests.services.jobs.conftest import Count
from tests.services.specifications.writing import SHOP, Writing

#: One for each part of a description, one more for the records of the second service, and COMMIT.
MOST_TRIPS = 11


def every_state(world: World) -> list[UUID]:
    """Accepted jobs of both services, in every state, of several users."""
    busy = fill(world)
    writing = Writing(world)
    beat(world.uow, Service.ANALYSIS, busy.running, world.policy, ("parse", 7, 40))
    writing.written(busy.user, writing.analysed(busy.user, SHOP))
    older = writing.analysed(busy.user, SHOP, wanted=world.wanted("till"))
    writing.submit(busy.user, older)
    world.rows("UPDATE analyses SET parser_version = '0.9' WHERE id = :id RETURNING id", id=older)
    free = world.user()
    for _ in range(3):
        world.submit(free)
    return [UUID(str(row["job_id"])) for row in world.rows("SELECT DISTINCT job_id FROM analysis_requests")]


@pytest.mark.proof
def test_jobs_in_every_state_are_described_together_as_alone(piped: World, trips: Count) -> None:
    world, asked = piped, every_state(piped)
    payers = world.rows("SELECT DISTINCT user_id FROM usage_events")
    for asker in (None, *(row["user_id"] for row in payers)):
        with world.uow.begin() as tx:
            alone = {
                job_id: describe.job(tx, job_id, world.policy, asker=asker, now=world.now)  # type: ignore[arg-type]
                for job_id in asked
            }
            together = describe.jobs(tx, asked, world.policy, asker=asker, now=world.now)  # type: ignore[arg-type]
        assert list(together) == asked
        assert together == alone
    assert {job.status for job in alone.values()} == set(Status)
    assert {job.service for job in alone.values()} == set(Service)
    shown = ("snoozes", "started_at", "finished_at", "next_attempt_at", "wait", "progress", "error", "billed",
             "outdated", "summary", "writing")  # fmt: skip
    assert [name for name in shown if len({repr(getattr(job, name)) for job in alone.values()}) < 2] == []

    def describe_all() -> None:
        with world.uow.begin() as tx:
            describe.jobs(tx, asked, world.policy, asker=payers[0]["user_id"], now=world.now)  # type: ignore[arg-type]

    assert trips(describe_all) <= MOST_TRIPS


def test_a_job_that_no_longer_exists_is_left_out_of_many_and_not_found_alone(world: World) -> None:
    job_id, unknown = world.submit(world.user()), uuid4()
    with world.uow.begin() as tx:
        assert list(describe.jobs(tx, [unknown, job_id], world.policy, asker=None, now=world.now)) == [job_id]
        assert describe.jobs(tx, [], world.policy, asker=None, now=world.now) == {}
        with pytest.raises(NotFound):
            describe.job(tx, unknown, world.policy, asker=None, now=world.now)


def completed(world: World, user: UUID) -> None:
    world.finish(world.running(user), user)


def written(world: World, user: UUID) -> None:
    writing = Writing(world)
    writing.written(user, writing.analysed(user, SHOP))


def history(world: World, user: UUID) -> list[object]:
    return list(read_jobs.history(world.uow, user, world.policy, now=world.now)[0])


def repository(world: World, user: UUID) -> list[object]:
    return list(read_repository(world.uow, world.wanted().repository, world.policy, now=world.now).analyses)


def specifications(world: World, user: UUID) -> list[object]:
    viewer = account(world, user)
    return list(documents.jobs(world.uow, viewer, world.policy, analysis_id=None, now=world.now))


@pytest.mark.parametrize(("make", "read"), [(completed, history), (completed, repository), (written, specifications)])
def test_a_list_of_more_jobs_takes_no_more_round_trips(
    piped: World,
    trips: Count,
    make: Callable[[World, UUID], None],
    read: Callable[[World, UUID], list[object]],
) -> None:
    user = piped.user(Tier.ENTERPRISE)
    counts = []
    for more, there in ((1, 1), (3, 4)):
        for _ in range(more):
            make(piped, user)
        assert len(read(piped, user)) >= there
        counts.append(trips(lambda: read(piped, user)))
    assert counts[1] == counts[0]
