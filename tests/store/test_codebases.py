"""Repositories: one row whatever the case, and which of them the schedule looks at."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from app.domain.lifecycle import Failure
from app.domain.repositories import Repository
from app.store.analyses.accept_lookup import ExistingAnalyses, look
from app.store.repositories import codebases
from tests.conftest import NOW, World

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
SHOP = Repository("github.com", "Acme", "Shop")
ADD = text("""
    INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                          error_code, total_tests)
    VALUES (:id, :codebase_id, :commit, CAST(:status AS analysis_status), '1', 1, :at, :at,
            CASE WHEN :status = 'failed' THEN 'x' END, CASE WHEN :status = 'completed' THEN 1 END)""")


def ensure(world: World, repository: Repository = SHOP, *, viewed: bool = True, now: datetime = NOW) -> UUID:
    with world.uow.begin() as tx:
        codebase = codebases.find(tx, repository) or codebases.add(tx, repository, now=now)
        if viewed:
            codebases.asked_for(tx, codebase, now=now)
        return codebase.codebase_id


def ended(world: World, codebase_id: UUID, *statuses: str) -> None:
    """Analyses that ended one day after another, the last one now."""
    with world.uow.begin() as tx:
        for ago, status in zip(range(len(statuses) - 1, -1, -1), statuses, strict=True):
            commit = uuid4().hex + "0" * 8
            tx.run(ADD, id=uuid4(), codebase_id=codebase_id, commit=commit, status=status, at=NOW - ago * DAY)


def candidates(world: World) -> list[str]:
    """The names of the repositories that the schedule looks at, a batch of one after the other."""
    names, last = [], None
    with world.uow.begin() as tx:
        while found := codebases.viewed_before(tx, SHOP.host, last, viewed_since=NOW - 91 * DAY, most=1):
            [(last, _)] = found
            names.append(last.repository.name)
    return names


def ends(world: World, codebase_id: UUID) -> tuple[int, datetime | None]:
    with world.uow.begin() as tx:
        found = codebases.ends(tx, [codebase_id], most=5)[codebase_id]
    return found.failures, found.last_ended_at


@pytest.mark.parametrize(("owner", "name"), [("acme", "shop"), ("ACME", "SHOP"), ("Acme", "sHOP")])
def test_a_repository_is_the_same_in_every_case_and_keeps_its_first_spelling(
    world: World, owner: str, name: str
) -> None:
    first = ensure(world)
    assert ensure(world, Repository("github.com", owner, name)) == first
    with world.uow.begin() as tx:
        found = codebases.find(tx, Repository("github.com", owner, name))
    assert found is not None
    assert (found.codebase_id, found.repository) == (first, SHOP)


def test_another_host_owner_or_name_is_another_repository(world: World) -> None:
    others = [
        Repository("gitlab.com", "Acme", "Shop"), Repository("github.com", "Acme2", "Shop"),
        Repository("github.com", "Acme", "Shop2"), Repository("local", "-", "Shop"),
    ]  # fmt: skip
    assert len({ensure(world, repository) for repository in [SHOP, *others]}) == 5


def test_many_who_ask_for_a_new_repository_at_once_get_one_row(world: World) -> None:
    barrier = Barrier(8)

    def ask(number: int) -> UUID:
        barrier.wait()
        return ensure(world, Repository("github.com", "acme", "shop" if number % 2 else "SHOP"))

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(ask, range(8)))) == 1


def test_a_view_moves_forward_only_and_a_look_of_the_schedule_is_none(world: World) -> None:
    codebase_id = ensure(world, viewed=False)
    assert world.value("SELECT last_viewed_at FROM codebases") is None
    for viewed, now, expected in ((True, NOW, NOW), (False, NOW + DAY, NOW), (True, NOW - DAY, NOW)):
        ensure(world, viewed=viewed, now=now)
        assert world.value("SELECT last_viewed_at FROM codebases") == expected
    with world.uow.begin() as tx:
        codebases.viewed(tx, codebase_id, now=NOW + MINUTE)  # at most one write a minute
        codebases.checked(tx, codebase_id, now=NOW + 2 * DAY)
    assert world.value("SELECT last_viewed_at FROM codebases") == NOW
    with world.uow.begin() as tx:
        codebases.viewed(tx, codebase_id, now=NOW + MINUTE + timedelta(seconds=1))
    assert world.value("SELECT last_viewed_at FROM codebases") == NOW + MINUTE + timedelta(seconds=1)


def test_candidates_are_public_viewed_since_then_and_newest_view_first(world: World) -> None:
    for name, ago in (("old", 92), ("week", 7), ("today", 0)):
        ensure(world, Repository("github.com", "acme", name), now=NOW - ago * DAY)
    ensure(world, Repository("github.com", "acme", "never"), viewed=False)
    ensure(world, Repository("github.com", "acme", "private"))
    world.rows("UPDATE codebases SET is_private = true WHERE name = 'private' RETURNING id")
    assert candidates(world) == ["today", "week"]


@pytest.mark.parametrize(
    ("statuses", "failures"),
    [
        ((), 0),
        (("completed",), 0),
        (("failed",) * 5, 5),
        (("failed", "failed", "completed"), 0),
        (("failed", "completed", "failed", "failed"), 2),
        (("completed", "failed", "cancelled", "failed"), 2),
    ],
)
def test_failures_are_counted_since_the_last_success(world: World, statuses: tuple[str, ...], failures: int) -> None:
    codebase_id = ensure(world)
    ended(world, codebase_id, *statuses)
    assert ends(world, codebase_id) == (failures, NOW if statuses else None)


def test_what_runs_has_not_ended_and_one_repositorys_failures_are_not_anothers(world: World) -> None:
    user = world.user()
    world.running(user, world.wanted("running"))
    failing = ensure(world, Repository("github.com", "acme", "failing"))
    ended(world, failing, "failed", "failed")
    running = ensure(world, Repository("github.com", "acme", "running"))
    assert (ends(world, running), ends(world, failing)) == ((0, None), (2, NOW))


def test_only_the_newest_record_of_a_commit_decides_whether_it_failed(world: World) -> None:
    user, wanted = world.user(), world.wanted()
    world.fail(world.running(user, wanted), user, Failure("repository_not_found", "gone"))
    with world.uow.begin() as tx:

        def existing(commit: str, parser_version: str) -> ExistingAnalyses:
            return look(tx, user, None, wanted.repository, commit, parser_version, now=NOW).existing

        assert existing(wanted.commit, world.policy.parser_version).failed is not None
        assert existing(wanted.commit, "2.0.0").failed is None
        assert existing("0" * 40, world.policy.parser_version).failed is None
