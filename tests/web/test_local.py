"""POST /analyses of repositories below LOCAL_REPOS_ROOT, with git and a folder of hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from service_harness.application import POLICY, SETTINGS, Web
from testlist_harness.bombs import BOMBS
from testlist_harness.repositories import commit, git

from app.adapters.git_sources import resolve_commit
from app.web import create_app
from app.web.core.wiring import WebWiring


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
    wired = WebWiring(settings, web.uow, POLICY, resolve, "a secret of this test")
    return replace(web, app=create_app(wired))


def answer(web: Web, name: str) -> tuple[int, dict[str, Any]]:
    said = web.client.post("/api/v1/analyses", json={"repository": f"local:{name}"})
    return said.status_code, said.json


def test_an_honest_local_repository_is_accepted(local: Web, root: Path) -> None:
    status, job = answer(local, "shop")
    assert (status, job["commit"], job["ref"]) == (202, git(root / "shop", "rev-parse", "HEAD"), "main")


def test_the_beginning_of_a_commit_id_is_enough_for_a_local_repository(local: Web, root: Path) -> None:
    whole = git(root / "shop", "rev-parse", "HEAD")
    for given in (whole[:7], whole[:12].upper(), whole):
        said = local.client.post("/api/v1/analyses", json={"repository": "local:shop", "commit": given})
        assert (said.status_code, said.json["commit"]) == (202, whole)
    unknown = "0" * 7 if not whole.startswith("0") else "f" * 7
    said = local.client.post("/api/v1/analyses", json={"repository": "local:shop", "commit": unknown})
    assert (said.status_code, "not exactly one commit" in said.json["detail"]) == (404, True)


def test_the_beginning_of_an_id_at_a_host_is_refused_with_the_reason(local: Web) -> None:
    said = local.client.post("/api/v1/analyses", json={"repository": "acme/shop", "commit": "6a8536b"})
    assert (said.status_code, said.json["errors"][0]["pointer"]) == (422, "/commit")
    assert "a Git host does not find a commit by the beginning of its id" in said.json["errors"][0]["detail"]


@pytest.mark.parametrize("commit", ["HEAD~1", "--all", "6a8", "main"])
def test_a_commit_is_an_id_for_the_api(local: Web, commit: str) -> None:
    said = local.client.post("/api/v1/analyses", json={"repository": "local:shop", "commit": commit})
    assert (said.status_code, said.json["errors"][0]["pointer"]) == (422, "/commit")


def test_a_wrong_ref_says_that_there_is_no_such_branch_or_tag(local: Web) -> None:
    said = local.client.post("/api/v1/analyses", json={"repository": "local:shop", "ref": "nosuch"})
    assert (said.status_code, said.json["detail"]) == (404, "The repository has no branch or tag 'nosuch'.")


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
