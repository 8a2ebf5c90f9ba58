"""A local repository whose default branch moves, and the service beside it.

Git, the engine and the look-ups are the service's own; only Celery is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from service_harness.application import POLICY, SETTINGS, Web
from sqlalchemy import text
from testlist_harness.repositories import git

from app.adapters.git_sources import resolve_commit
from app.domain.objects import Objects
from app.domain.repositories import Repository
from app.services.accounts.accounts import Account
from app.services.analyses import judge
from app.services.analyses.analyse import analyse
from app.settings import Settings
from app.web import create_app
from app.web.core.wiring import WebWiring
from tasks import wiring
from tasks.analysis import look_of, take

DAY = datetime(2026, 11, 1, tzinfo=UTC)
REPRO = Repository("local", "-", "repro")
PAGE = "/repositories/local/-/repro"
LOOKS = """
    SELECT m.task_id, m.payload, q.name AS queue, m.user_id AS group_name, m.delay_reason = 'park' AS parked,
           coalesce(extract(epoch FROM m.visible_at - now()), 0) AS wait
      FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id WHERE m.unique_key LIKE 'look:%'"""


@dataclass
class Place:
    """A local repository, the service, and a worker."""

    web: Web
    settings: Settings
    path: Path
    days: int = 0
    objects: Objects | None = None

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
        """Run the job, as the task does."""
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
            objects=self.objects,
        )

    def looks(self) -> list[tuple[str, str, float]]:
        """The looks at HEAD that are asked for: task, queue, and in how many seconds each is due."""
        with self.web.uow.begin() as tx:
            rows = tx.run(text(LOOKS)).all()
        assert all(row.group_name is None and not row.parked for row in rows)
        return [(json.loads(row.payload)["headers"]["task"], row.queue, row.wait) for row in rows]

    def look(self) -> None:
        """Let a worker take the looks that were asked for, as the task does.  There is one at most."""
        kit = wiring.WorkerWiring(self.settings, self.web.uow, cast("Any", None), POLICY)
        with self.web.uow.begin() as tx:
            rows = tx.run(text(LOOKS)).all()
        for row in rows:
            given = json.loads(json.loads(row.payload)["body"])[1]
            where, commit = UUID(given["codebase_id"]), given["commit"]
            of = partial(look_of, kit, commit=commit, checkpoint=lambda *_: None)
            judge.look(self.web.uow, where, commit, of, now=self.web.uow.now())
            with self.web.uow.begin() as tx:
                tx.run(text("DELETE FROM kombu_message WHERE task_id = :id"), id=row.task_id)
        assert len(rows) <= 1

    def merge(self, branch: str) -> None:
        """Put the commits of the branch onto main as they are, as GitLab and the merge queue of GitHub do."""
        git(self.path, "merge", "--quiet", "--ff-only", branch)

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


def made(web: Web, folder: Path) -> Place:
    """An empty repository, below a folder of its own."""
    settings = SETTINGS.model_copy(update={"local_repos_root": folder / "root", "home": folder / "home"})
    path = folder / "root" / "repro"
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    wired = WebWiring(settings, web.uow, POLICY, partial(resolve_commit, settings=settings), "a secret of this test")
    return Place(replace(web, app=create_app(wired)), settings, path)
