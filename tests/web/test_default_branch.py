"""The newest result of a repository is that of the newest commit of its default branch, however it was asked for.

Git, the engine and the look-ups are the service's own; only Celery is left out.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from service_harness.application import POLICY
from sqlalchemy import text
from testlist_harness.repositories import git

from app.adapters.git_sources import resolve_commit
from app.domain.repositories import Repository
from app.services.analyses.reschedule import reschedule
from app.services.operations.prune import prune
from tests.web.places import PAGE, Place


def test_the_way_of_a_ci_moves_badge_trend_and_newest(place: Place) -> None:
    user = place.web.user()
    place.commit(1)
    assert place.ask(user)[0] == 202
    second = place.commit(2)
    assert place.ask(user, commit=second) == (202, second)
    assert place.shown() == ("2", 2, [2, 1])
    assert place.ask(user) == (200, second)
    assert place.shown() == ("2", 2, [2, 1])
    assert place.listed(user) == {2}


def test_commits_that_were_only_ever_asked_for_by_their_ids_have_a_trend(place: Place) -> None:
    user = place.web.user()
    commits = [place.commit(number) for number in (1, 2, 3)]
    for commit in reversed(commits):
        place.ask(user, commit=commit)
    assert place.shown() == ("3", 3, [3, 2, 1])


def test_a_commit_of_another_branch_changes_no_list(place: Place) -> None:
    user, stranger = place.web.user(), place.web.user()
    place.commit(5)
    place.ask(user)
    place.checkout("feature", start="main")
    side = place.commit(1, branch="feature")
    place.checkout("main")
    for members in ({"commit": side}, {"ref": "feature"}, {"commit": side, "ref": "main"}):
        place.ask(stranger, **members)
    assert place.shown() == ("5", 5, [5])
    assert place.listed(user) == {5}


def test_a_repository_of_which_only_another_branch_was_analysed_has_no_newest_result(place: Place) -> None:
    user = place.web.user()
    place.commit(5)
    place.checkout("feature", start="main")
    place.commit(1, branch="feature")
    place.checkout("main")
    place.ask(user, ref="feature")
    assert place.web.client.get(f"/api/v1{PAGE}").json["newest"] is None
    assert "none yet" in place.web.client.get(f"/api/v1{PAGE}/badge.svg").text
    assert place.listed(user) == set()


@pytest.mark.proof
def test_a_branch_that_was_merged_counts_from_then_on(place: Place) -> None:
    user = place.web.user()
    place.commit(5)
    place.ask(user)
    place.checkout("feature", start="main")
    place.commit(6, branch="feature")
    place.checkout("main")
    place.ask(user, ref="feature")
    assert place.shown()[2] == [5]
    git(place.path, "merge", "--quiet", "--ff-only", "feature")
    place.commit(7)
    place.ask(user)
    assert place.shown() == ("7", 7, [7, 6, 5])


@pytest.mark.proof
def test_commits_that_a_forced_push_took_away_are_gone_from_the_trend(place: Place) -> None:
    user = place.web.user()
    kept = place.commit(1)
    place.ask(user)
    for tests in (2, 3):
        place.commit(tests)
        place.ask(user)
    git(place.path, "reset", "--quiet", "--hard", kept)
    place.commit(4)
    place.ask(user)
    assert place.shown() == ("4", 4, [4, 1])


def test_a_forced_push_back_to_an_analysed_commit_is_followed_without_a_new_analysis(place: Place) -> None:
    user = place.web.user()
    kept = place.commit(1)
    place.ask(user)
    gone = place.commit(2)
    place.ask(user)
    git(place.path, "reset", "--quiet", "--hard", kept)
    assert place.ask(user) == (200, kept)
    assert place.shown() == ("1", 1, [1])
    git(place.path, "reset", "--quiet", "--hard", gone)
    assert place.ask(user) == (200, gone)
    assert place.shown() == ("2", 2, [2, 1])


def test_the_schedule_follows_a_forced_push_too(place: Place) -> None:
    user = place.web.user()
    kept = place.commit(1)
    place.ask(user)
    place.commit(2)
    place.ask(user)
    git(place.path, "reset", "--quiet", "--hard", kept)

    def head(repository: Repository) -> tuple[str, str | None]:
        return resolve_commit(repository, None, None, place.settings)

    later = datetime.now(UTC) + timedelta(hours=7)
    assert reschedule(place.web.uow, head, POLICY, now=later).unchanged == 1
    assert place.shown() == ("1", 1, [1])


def test_results_of_which_no_history_was_looked_at_count_by_the_names_that_were_asked_for(place: Place) -> None:
    user = place.web.user()
    first = place.commit(1)
    place.ask(user)
    place.checkout("feature", start="main")
    side = place.commit(2, branch="feature")
    place.checkout("main")
    place.ask(user, commit=side)
    with place.web.uow.begin() as tx:  # as an earlier release left it
        tx.run(text("DELETE FROM branch_commits"))
    assert place.shown() == ("1", 1, [1])
    assert place.ask(user) == (200, first)
    assert place.shown() == ("1", 1, [1])


def test_a_commit_that_could_not_be_judged_moves_nothing_by_the_name_that_a_client_sends(place: Place) -> None:
    user, stranger = place.web.user(), place.web.user()
    place.commit(5)
    place.ask(user)
    place.checkout("feature", start="main")
    side = place.commit(1, branch="feature")
    place.checkout("main")
    place.ask(stranger, commit=side, ref="main")
    with place.web.uow.begin() as tx:  # as of a remote repository with a history that is too long to tell
        tx.run(text("UPDATE analysis_requests SET ref = 'main' WHERE commit_sha = :side"), side=side)
        tx.run(text("DELETE FROM branch_commits WHERE commit_sha = :side"), side=side)
    assert place.shown() == ("5", 5, [5])
    assert place.listed(user) == {5}


def test_a_commit_and_its_history_are_pruned_together(place: Place) -> None:
    place.ask(place.web.user(), commit=place.commit(1))
    with place.web.uow.begin() as tx:
        assert tx.run(text("SELECT is_member FROM branch_commits")).scalars().all() == [True]
        tx.run(text("UPDATE analysis_requests SET requested_at = requested_at - interval '400 days'"))
    prune(place.web.uow, now=datetime.now(UTC))
    with place.web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM analyses")).scalar_one() == 0
        assert tx.run(text("SELECT count(*) FROM branch_commits")).scalar_one() == 0
