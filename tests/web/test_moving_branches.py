"""Commits that were analysed before they came onto the default branch, wrong dates, and many other branches."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, cast

import pytest
from service_harness.application import POLICY
from sqlalchemy import text
from testlist_harness.repositories import git

from app.domain.repositories import Repository
from app.services.analyses import judge, submit
from app.services.analyses.submission import Wanted
from app.store.accounts.users import Account
from app.store.operations import retention
from app.store.repositories.branch_commits import FOUND
from tasks import wiring
from tasks.analysis import look_of
from tests.tiers import few
from tests.web.places import REPRO, Place

#: Later commits of other branches; are_known: whether they are known to be elsewhere.
OTHERS = """
    WITH made AS (
        INSERT INTO analyses (id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at,
                              committed_at, total_tests, summary)
        SELECT gen_random_uuid(), a.codebase_id, lpad(to_hex(n), 40, '0'), 'completed', a.parser_version, 1, now(),
               now(), a.committed_at + n * interval '1 s', 9, a.summary
          FROM analyses a, generate_series(1, :n) n RETURNING codebase_id, commit_sha)
    INSERT INTO branch_commits (codebase_id, commit_sha, is_member, seen_at)
    SELECT codebase_id, commit_sha, false, now() FROM made WHERE :are_known"""


def looked_for(place: Place, user: Account) -> str:
    """A commit of another branch, which was submitted again after its result, so that a look was asked for."""
    place.commit(1)
    place.ask(user)
    place.checkout("feature", start="main")
    side = place.commit(2, branch="feature")
    place.checkout("main")
    for _ in range(2):
        place.ask(user, commit=side)
    assert len(place.looks()) == 1
    return side


@pytest.mark.parametrize("named", few(1, ["HEAD", "its id", "main", "refs/heads/main"]))
def test_a_commit_that_was_analysed_before_it_came_onto_the_branch_is_followed(place: Place, named: str) -> None:
    user = place.web.user()
    place.commit(1)
    place.ask(user)
    for tests in (2, 3):
        place.checkout("queue", start="main")
        queued = place.commit(tests, branch="queue")
        place.checkout("main")
        assert place.ask(user, commit=queued)[0] == 202
        assert place.shown()[1] == tests - 1
        place.merge("queue")
        how = {"HEAD": {}, "its id": {"commit": queued}}.get(named, {"ref": named})
        assert place.ask(user, **how) == (200, queued)
        place.look()
        assert place.shown() == (str(tests), tests, list(range(tests, 0, -1)))
    assert place.listed(user) == {3}


@pytest.mark.proof
def test_all_commits_of_a_merge_are_followed(place: Place) -> None:
    user = place.web.user()
    place.commit(1)
    place.ask(user)
    place.checkout("feature", start="main")
    commits = [place.commit(tests, branch="feature") for tests in (2, 3)]
    place.checkout("main")
    for commit in commits:
        place.ask(user, commit=commit)
    place.merge("feature")
    assert place.ask(user)[0] == 200
    assert place.shown()[1] == 3  # HEAD itself is known at once
    place.look()
    assert place.shown() == ("3", 3, [3, 2, 1])


def test_where_everybody_names_the_branch_a_worker_finds_out_what_head_is(place: Place) -> None:
    user = place.web.user()
    place.commit(1)
    place.ask(user, ref="main")
    with place.web.uow.begin() as tx:
        assert tx.run(text("SELECT default_branch FROM codebases")).scalar_one() == "main"
    git(place.path, "branch", "--quiet", "--move", "main", "trunk")
    place.checkout("feature", start="trunk")
    place.commit(2, branch="feature")
    place.checkout("trunk")
    place.ask(user, ref="feature")
    place.merge("feature")
    assert place.ask(user, ref="trunk")[0] == 200
    place.look()
    assert place.shown() == ("2", 2, [2, 1])
    with place.web.uow.begin() as tx:
        assert tx.run(text("SELECT default_branch FROM codebases")).scalar_one() == "trunk"


@pytest.mark.proof
def test_of_a_repository_one_look_waits_and_they_are_a_minute_apart(place: Place) -> None:
    users, began = [place.web.user() for _ in range(3)], time.monotonic()
    main = place.commit(1)
    place.ask(users[0])
    place.checkout("feature", start="main")
    sides = [place.commit(tests, branch="feature") for tests in (2, 3)]
    place.checkout("main")
    for side in sides:
        place.ask(users[0], commit=side)
    assert place.ask(users[0], commit=main) == (200, main)
    assert place.looks() == []  # it is known to be the newest
    for user in users:
        for side in sides:
            assert place.ask(user, commit=side)[0] == 200
    [(task, queue, wait)] = place.looks()
    assert (task, queue) == ("tasks.analysis.look", "analysis_scheduled")
    assert 60 - (time.monotonic() - began) <= wait <= 60  # the last analysis looked just now
    with place.web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM quota_reservations")).scalar_one() == 0
        assert tx.run(text("SELECT count(*) FROM execution_slots")).scalar_one() == 0


def test_what_is_submitted_while_a_worker_looks_gets_a_look_of_its_own(place: Place) -> None:
    user = place.web.user()
    side = looked_for(place, user)
    kit = wiring.WorkerWiring(place.settings, place.web.uow, cast("Any", None), POLICY)

    def slow(repository: Repository) -> judge.LookAtBranch:
        real = look_of(kit, repository, side, lambda *_: None)

        def look(commits: Mapping[str, datetime | None]) -> judge.Branch:
            found = real(commits)
            place.merge("feature")
            assert place.ask(user, commit=side)[0] == 200
            return found

        return look

    with place.web.uow.begin() as tx:
        where = tx.run(text("SELECT id FROM codebases")).scalar_one()
    judge.look(place.web.uow, where, side, slow, now=place.web.uow.now())
    assert len(place.looks()) == 2  # the first is still leased
    with place.web.uow.begin() as tx:
        tx.run(text("DELETE FROM kombu_message WHERE id = (SELECT min(id) FROM kombu_message)"))
    place.look()
    assert place.shown() == ("2", 2, [2, 1])


def test_a_look_that_comes_after_its_results_were_pruned_notes_nothing_that_stays(place: Place) -> None:
    looked_for(place, place.web.user())
    later = place.web.uow.now() + timedelta(days=1000)
    for prune in (retention.expire_history, partial(retention.drop_jobs, days=1)):
        with place.web.uow.begin() as tx:
            assert prune(tx, None, 100, now=later).rows > 0
    place.look()
    with place.web.uow.begin() as tx:
        for table, rows in (("codebases", 1), ("analyses", 0), ("branch_commits", 0)):
            assert tx.run(text(f"SELECT count(*) FROM {table}")).scalar_one() == rows, table


@pytest.mark.proof
def test_a_look_at_head_that_took_long_takes_no_later_commit_off_the_branch(place: Place) -> None:
    user = place.web.user()
    first = place.commit(1)
    place.ask(user)
    looked_at = place.web.uow.now()
    second = place.commit(2)
    place.ask(user)
    late = Wanted(REPRO, first, "main", default_branch="main", named=True, looked_at=looked_at)
    assert submit.submit(place.web.uow, user.user_id, late, POLICY).is_known
    assert place.shown() == ("2", 2, [2, 1])
    place.look()
    assert place.shown() == ("2", 2, [2, 1])
    assert second == git(place.path, "rev-parse", "main")


def test_a_submission_knows_when_its_host_was_asked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A push and its analysis while the host still answers with the commit of before."""
    user = place.web.user()
    first = place.commit(1)
    place.ask(user)
    lookups = place.web.app.extensions["fairlane lookups"]
    resolve = lookups.resolve

    def slow(*asked: Any) -> Any:
        found = resolve(*asked)
        lookups.resolve = resolve
        place.commit(2)
        place.ask(user)
        return found

    lookups.resolve = slow
    assert place.ask(user) == (200, first)
    assert place.shown() == ("2", 2, [2, 1])


@pytest.mark.proof
def test_head_is_the_newest_although_a_commit_before_it_has_a_date_in_the_future(place: Place) -> None:
    user = place.web.user()
    place.commit(1)
    place.ask(user)
    place.days += 3000  # somebody's clock was wrong
    place.commit(2)
    place.ask(user)
    place.days -= 3000
    for tests in (3, 4):
        commit = place.commit(tests)
        place.ask(user, commit=commit)
        assert place.shown() == (str(tests), tests, list(range(tests, 0, -1)))
        assert place.ask(user) == (200, commit)
        assert place.shown() == (str(tests), tests, list(range(tests, 0, -1)))
    assert place.looks() == []


@pytest.mark.parametrize("are_known", [True, False])
def test_commits_of_other_branches_do_not_hide_the_default_branch(place: Place, are_known: bool) -> None:
    """More of them than are read of commits of which nothing is known."""
    user = place.web.user()
    place.commit(1)
    place.ask(user)
    with place.web.uow.begin() as tx:
        tx.run(text(OTHERS), n=FOUND + 100, are_known=are_known)
    assert place.shown() == ("1", 1, [1])
    assert place.listed(user) == {1}
