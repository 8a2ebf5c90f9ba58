"""The newest result of a repository is that of the newest commit of its default branch, however it was asked for.

Git, the engine and the look-ups are the service's own; only Celery is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from service_harness.application import POLICY, SETTINGS, Web
from sqlalchemy import text
from testlist_harness.repositories import git

from app.adapters.git_sources import resolve_commit
from app.domain.repositories import Repository
from app.services.accounts.accounts import Account
from app.services.analyses.analyse import analyse
from app.services.analyses.reschedule import reschedule
from app.services.operations.prune import prune
from app.settings import Settings
from app.web import create_app
from app.web.core.wiring import WebWiring
from tasks import wiring
from tasks.analysis import take

DAY = datetime(2026, 11, 1, tzinfo=UTC)
REPRO = Repository("local", "-", "repro")
PAGE = "/repositories/local/-/repro"


@dataclass
class Place:
    """A local repository, the service, and a worker."""

    web: Web
    settings: Settings
    path: Path
    days: int = 0

    def commit(self, tests: int, *, branch: str = "main") -> str:
        """A commit with so many tests, a day after the last one."""
        self.days += 1
        (self.path / "test_a.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(tests)), "utf-8")
        git(self.path, "add", "--all")
        env = {"GIT_COMMITTER_DATE": (DAY + timedelta(days=self.days)).isoformat()}
        git(self.path, "commit", "--quiet", "--message=x", env=env)
        assert git(self.path, "branch", "--show-current") == branch
        return git(self.path, "rev-parse", "HEAD")

    def checkout(self, branch: str, *, start: str | None = None) -> None:
        git(self.path, "checkout", "--quiet", *(("-B", branch, start) if start else (branch,)))

    def ask(self, user: Account, **members: str) -> tuple[int, str]:
        """Submit, and run the job if one is new; the status of the answer, and the commit."""
        body = {"repository": "local:repro", **members}
        answer = self.web.app.test_client().post("/api/v1/analyses", json=body, headers=self.web.token(user.user_id))
        if answer.status_code == 202:
            self.run(answer.json["id"])
        commit: str = answer.json["commit"]
        return answer.status_code, commit

    def run(self, job_id: str) -> None:
        """As the task does."""
        delivery = self.web.started(job_id)
        with self.web.uow.begin() as tx:
            row = tx.run(
                text("SELECT user_id, commit_sha FROM analysis_requests WHERE job_id = :id AND role = 'payer'"),
                id=job_id,
            ).one()
        kit = wiring.WorkerWiring(self.settings, self.web.uow, cast("Any", None), POLICY)
        analyse(
            self.web.uow,
            delivery,
            cast("UUID", row.user_id),
            lambda known, checkpoint: take(kit, REPRO, row.commit_sha, known, checkpoint),
            POLICY,
            checkpoint=lambda *_: None,
        )

    def shown(self) -> tuple[str, int, Sequence[int]]:
        """What the badge, the newest result and the trend say."""
        answer = self.web.client.get(f"/api/v1{PAGE}").json
        badge = re.findall(r">([\d,]+|none yet)<", self.web.client.get(f"/api/v1{PAGE}/badge.svg").text)[0]
        return badge, answer["newest"]["summary"]["tests"], [one["summary"]["tests"] for one in answer["history"]]

    def listed(self, user: Account) -> set[int]:
        """What explore, its search and the bookmarks say."""
        self.web.sign_in(user)
        self.web.post(f"{PAGE}/bookmark")
        pages = [self.web.client.get(path).text for path in ("/explore", "/explore?q=repro", "/bookmarks")]
        found = [re.search(r'data-label="Tests">(\d+)<', page) for page in pages]
        return {int(one[1]) for one in found if one}


@pytest.fixture
def place(make_web: Callable[..., Web], tmp_path: Path) -> Place:
    settings = SETTINGS.model_copy(update={"local_repos_root": tmp_path / "root", "home": tmp_path / "home"})
    path = tmp_path / "root" / "repro"
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    web = make_web()
    wired = WebWiring(settings, web.uow, POLICY, partial(resolve_commit, settings=settings), "a secret of this test")
    return Place(replace(web, app=create_app(wired)), settings, path)


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
    place.ask(user, commit=place.commit(2, branch="feature"))
    with place.web.uow.begin() as tx:  # as an earlier release left it
        tx.run(text("DELETE FROM branch_commits"))
    assert place.shown() == ("1", 1, [1])
    place.checkout("main")
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
