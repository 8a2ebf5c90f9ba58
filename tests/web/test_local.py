"""POST /analyses of repositories below LOCAL_REPOS_ROOT, with git and a folder of hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from testlist_harness.bombs import BOMBS
from testlist_harness.repositories import commit, git

from app.web import create_app
from tasks.sources import resolve_commit
from tests.web.conftest import POLICY, SETTINGS, Web, Wired


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("root/shop", "root/bomb", "private"):
        path = tmp_path / name
        path.mkdir(parents=True)
        git(path, "init", "--quiet", "--initial-branch=main")
        (path / "test_a.py").write_text("def test_a(): pass\n", encoding="utf-8")
        commit(path)
    return tmp_path / "root"


@pytest.fixture
def local(make_web: Callable[..., Web], root: Path) -> Web:
    """The application with the look-up of the service itself."""
    settings = SETTINGS.model_copy(update={"local_repos_root": root})
    web = make_web()
    resolve = partial(resolve_commit, settings=settings)
    wired = Wired(settings, web.uow, POLICY, resolve, "a secret of this test")
    return replace(web, app=create_app(wired))


def answer(web: Web, name: str) -> tuple[int, dict[str, Any]]:
    said = web.client.post("/api/v1/analyses", json={"repository": f"local:{name}"})
    return said.status_code, said.json


def test_an_honest_local_repository_is_accepted(local: Web, root: Path) -> None:
    status, job = answer(local, "shop")
    assert (status, job["commit"], job["ref"]) == (202, git(root / "shop", "rev-parse", "HEAD"), "main")


def test_what_leads_out_of_the_root_or_to_itself_is_422_with_its_reason(local: Web, root: Path) -> None:
    (root / "out").symlink_to(root.parent / "private")
    (root / "loop").symlink_to("loop")
    (root / "pointer").mkdir()
    (root / "pointer" / ".git").write_text(f"gitdir: {root.parent}/private/.git\n", encoding="utf-8")
    for name, code in (
        ("out", "repository_outside_root"), ("pointer", "repository_outside_root"), ("loop", "repository_damaged"),
    ):  # fmt: skip
        status, problem = answer(local, name)
        assert (status, problem["code"], problem["errors"][0]["pointer"]) == (422, code, "/repository")
    assert answer(local, "missing")[0] == 404


@pytest.mark.parametrize(("bomb", "status"), [("a commit", 422), ("a commit that says it is small", 404)])
def test_a_bomb_is_refused_without_being_unpacked(local: Web, root: Path, bomb: str, status: int) -> None:
    BOMBS[bomb][0](root / "bomb")
    assert answer(local, "bomb")[0] == status
