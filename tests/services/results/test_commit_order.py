"""Newest, previous and the sides of a comparison follow the commits, not the time of analysis (docs/adr/0034)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import count
from uuid import UUID, uuid4

from app.services.analyses.finish import finish, save
from app.services.analyses.submit import submit
from app.services.results import other_commits
from app.services.results.read_repository import FoundRepository, read_repository
from tests.conftest import A_FILE, NOW, World

MINUTES = count()


def analysed(
    world: World, name: str, *, committed: int | None, ref: str | None = None, head: str | None = None
) -> UUID:
    """An analysis made a minute after the last one.  committed: hours ago; ref: as asked; head: what HEAD was found to be."""
    later = replace(world, now=NOW + timedelta(minutes=next(MINUTES)))
    wanted = replace(world.wanted(commit=f"{name:0<40}"), ref=ref or head, default_branch=head)
    user = later.user()
    job_id = submit(later.uow, user, wanted, later.policy, now=later.now).job.id
    delivery = later.lease(job_id)
    later.start(delivery, user)
    listing = save(later.uow, [A_FILE], later.policy)
    at = None if committed is None else NOW - timedelta(hours=committed)
    finish(later.uow, delivery, user, listing, {"tests": 1}, committed_at=at, now=later.now)
    return job_id


def found(world: World) -> FoundRepository:
    return read_repository(world.uow, world.wanted().repository, world.policy, now=world.now)


def newest(world: World) -> str:
    job = found(world).newest
    return job.commit[0] if job else ""


def history(world: World) -> str:
    return "".join(job.commit[0] for job in found(world).analyses)


def previous(world: World, job_id: UUID) -> str | None:
    _, found = other_commits.with_previous(world.uow, job_id, None, world.policy, asker=uuid4(), now=world.now)
    return found.commit[0] if found else None


def test_analysing_an_old_commit_changes_neither_the_badge_nor_the_trend(world: World) -> None:
    analysed(world, "b", committed=1, head="main")
    assert newest(world) == "b"
    analysed(world, "a", committed=9)
    assert newest(world) == "b"
    analysed(world, "c", committed=0, ref="main")
    assert history(world) == "cb"


def test_a_newer_commit_of_another_branch_does_not_change_the_badge(world: World) -> None:
    analysed(world, "a", committed=9, head="main")
    analysed(world, "b", committed=0, ref="feature")
    assert history(world) == "a"


def test_where_nobody_asked_for_the_default_branch_the_commits_order_decides(world: World) -> None:
    for name, hours in (("b", 5), ("c", 1), ("a", 9)):
        analysed(world, name, committed=hours)
    assert history(world) == "cba"


def test_a_default_branch_that_was_renamed_is_followed(world: World) -> None:
    analysed(world, "a", committed=9, head="master")
    analysed(world, "b", committed=1, head="main")
    analysed(world, "c", committed=0, ref="master")
    assert newest(world) == "b"


def test_the_previous_inventory_is_that_of_the_commit_before(world: World) -> None:
    third = analysed(world, "c", committed=1, head="main")
    first = analysed(world, "a", committed=9, ref="main")
    second = analysed(world, "b", committed=5, ref="main")
    analysed(world, "f", committed=2, ref="feature")
    assert [previous(world, one) for one in (first, second, third)] == [None, "a", "b"]


def test_a_comparison_has_the_older_commit_before_the_newer_one_whichever_was_analysed_first(world: World) -> None:
    newer = analysed(world, "b", committed=1, head="main")
    older = analysed(world, "a", committed=9)
    [found] = other_commits.newest(world.uow, newer, None, now=world.now)
    assert (found.job_id, found.is_older) == (older, True)
    [found] = other_commits.newest(world.uow, older, None, now=world.now)
    assert (found.job_id, found.is_older) == (newer, False)


def test_results_of_a_release_that_did_not_note_the_commits_time_are_ordered_by_their_end(world: World) -> None:
    analysed(world, "a", committed=None)
    analysed(world, "b", committed=None)
    assert history(world) == "ba"
