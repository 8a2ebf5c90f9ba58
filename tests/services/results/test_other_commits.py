"""The previous inventory and those to compare with follow the branch, whatever dates commits have (docs/adr/0070)."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from app.services.results import other_commits
from app.store.accounts import users
from app.store.repositories import branch_commits
from app.store.repositories.branch_commits import FOUND
from tests.conftest import NOW, World
from tests.services.results.test_commit_order import analysed, previous

#: Commits of forks, which their authors have dated in the future.
FUTURE = """
    INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                          committed_at, total_tests, summary)
    SELECT gen_random_uuid(), a.codebase_id, lpad(to_hex(n), 40, '0'), 'completed', a.parser_version, 1, now(), now(),
           CAST(:at AS timestamptz) + n * interval '1 s', 9, a.summary
      FROM (SELECT * FROM analyses LIMIT 1) AS a, generate_series(1, :n) n"""
REQUESTED = """
    INSERT INTO analysis_requests (job_id, user_id, role, codebase_id, commit_sha, trigger, queue, requested_at)
    SELECT a.id, NULL, 'payer', a.codebase_id, a.commit_sha, 'scheduled', 'analysis_scheduled', now() FROM analyses a
     WHERE NOT EXISTS (SELECT FROM analysis_requests r WHERE r.job_id = a.id)"""


def on_branch(world: World, **places: int) -> None:
    """Note members of the default branch.  places: hours ago, by the letter of the commit."""
    codebase_id = world.value("SELECT id FROM codebases")
    with world.uow.begin() as tx:
        noted = {f"{name:0<40}": NOW - timedelta(hours=hours) for name, hours in places.items()}
        branch_commits.note(tx, codebase_id, noted, now=NOW)  # type: ignore[arg-type]


def forked(world: World, commits: int, *, hours: int = -1000) -> None:
    """Results of commits that are not known to be on the branch.  hours: ago, by their own dates."""
    with world.uow.begin() as tx:
        tx.run(text(FUTURE), n=commits, at=NOW - timedelta(hours=hours))
        tx.run(text(REQUESTED))


def offered(world: World, job_id: UUID, prefix: str = "") -> list[tuple[str, bool]]:
    """What one is compared with, each with whether it is older."""
    found = other_commits.newest(world.uow, job_id, None, prefix=prefix, now=world.now)
    return [(one.commit[0], one.is_older) for one in found]


def test_the_previous_inventory_is_that_of_the_place_before_whatever_the_dates(world: World) -> None:
    first = analysed(world, "a", committed=-500)  # by a wrong clock
    second, third = (analysed(world, name, committed=hours) for name, hours in (("b", 5), ("c", 9)))
    on_branch(world, a=30, b=20, c=10)
    assert [previous(world, one) for one in (first, second, third)] == [None, "a", "b"]


@pytest.mark.parametrize("hours", [-1000, 4])
def test_results_of_other_branches_hide_no_previous_inventory(world: World, hours: int) -> None:
    older, newer = analysed(world, "a", committed=9), analysed(world, "b", committed=3)
    on_branch(world, a=9, b=3)
    forked(world, FOUND, hours=hours)
    assert [previous(world, one) for one in (older, newer)][1] == "a"


def test_results_of_other_branches_hide_no_commit_of_the_default_branch_to_compare_with(world: World) -> None:
    jobs = [analysed(world, name, committed=hours) for name, hours in (("a", 9), ("b", 5), ("c", 3))]
    on_branch(world, a=9, b=5, c=3)
    forked(world, FOUND)
    found = offered(world, jobs[1])
    assert len(found) == other_commits.MOST
    assert found[-2:] == [("c", False), ("a", True)]
    assert {older for _, older in found[:-2]} == {False}


def test_many_commits_of_the_default_branch_hide_no_other_branch(world: World) -> None:
    feature = analysed(world, "f", committed=200)
    newest = analysed(world, "e", committed=0)
    on_branch(world, e=0)
    forked(world, other_commits.MOST, hours=100)
    with world.uow.begin() as tx:
        tx.run(
            text("""
            INSERT INTO branch_commits (codebase_id, commit_sha, is_member, ordered_at, seen_at)
            SELECT codebase_id, commit_sha, true, committed_at, now() FROM analyses WHERE commit_sha LIKE '0000%'""")
        )
    found = offered(world, newest)
    assert len(found) == other_commits.MOST
    assert found[-1] == ("f", True)
    assert offered(world, newest, prefix="f") == [("f", True)]
    assert offered(world, feature)[0] == ("e", False)


def test_a_comparison_has_its_sides_in_the_order_of_the_branch(world: World) -> None:
    first = analysed(world, "a", committed=-500)
    second = analysed(world, "b", committed=5)
    on_branch(world, a=30, b=20)
    assert offered(world, first) == [("b", False)]
    assert offered(world, second) == [("a", True)]


def test_of_a_commit_the_newest_result_is_offered_and_of_a_private_repository_ones_own(world: World) -> None:
    older, newer = analysed(world, "a", committed=9), analysed(world, "b", committed=3)
    on_branch(world, a=9, b=3)
    world.rows("UPDATE analyses SET parser_version = '0' WHERE id = :id RETURNING 1", id=older)
    again = analysed(world, "a", committed=9)
    [found] = other_commits.newest(world.uow, newer, None, now=world.now)
    assert found.job_id == again
    with world.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    owner = world.value("SELECT user_id FROM analysis_requests WHERE job_id = :id", id=newer)
    with world.uow.begin() as tx:
        account = users.find(tx, owner)  # type: ignore[arg-type]
    assert other_commits.newest(world.uow, newer, account, now=world.now) == []
