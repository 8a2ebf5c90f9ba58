"""The button "Check": what a submission would do and cost, before anything is spent."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from service_harness.application import POLICY, SETTINGS, Web, commit_of
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.adapters.git_sources import branches, resolve_commit
from app.web import create_app
from app.web.core.wiring import WebWiring
from tests.web.browser import chromium, served


def check(web: Web, **fields: str) -> TestResponse:
    return web.post("/check", **{"repository": "acme/shop"} | fields)


def jobs(web: Web) -> int:
    with web.uow.begin() as tx:
        return int(tx.run(text("SELECT count(*) FROM analysis_requests")).scalar_one())


def card(answer: TestResponse) -> str:
    assert answer.status_code == 200, answer.text
    return " ".join(answer.text.split('id="checked"')[1].split('class="examples"')[0].split())


def test_a_new_commit_is_shown_with_its_cost_and_nothing_is_submitted(web: Web) -> None:
    web.sign_in(web.user())
    told = card(check(web, repository="git clone git@github.com:acme/shop.git"))
    assert commit_of("shop")[:10] in told
    assert "costs 1 of the 50 that you have left of 50" in told
    assert jobs(web) == 0
    answer = web.post("/analyses", repository="https://github.com/acme/shop", commit=commit_of("shop"), ref="main")
    assert answer.status_code == 303
    assert jobs(web) == 1


def test_an_analysed_commit_is_offered_to_be_opened(web: Web) -> None:
    job_id = web.submit("shop").json["id"]
    assert "being analysed at this moment" in card(check(web))
    web.completed(job_id)
    told = card(check(web))
    assert "costs nothing" in told
    assert f'href="/analyses/{job_id}"' in told
    assert "Analyse this commit" not in told
    assert jobs(web) == 1


def test_a_failed_commit_says_so_and_starts_again(web: Web) -> None:
    web.failed(web.submit("shop").json["id"])
    told = card(check(web))
    assert "The last analysis of this commit failed" in told
    assert 'name="retry" value="true"' in told


def test_a_private_result_of_somebody_else_is_not_told(web: Web) -> None:
    web.completed(web.submit("shop").json["id"])
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    web.sign_in(web.user())
    assert "new analysis" in card(check(web))


def test_a_spent_quota_is_told_and_known_results_still_open(web: Web) -> None:
    web.completed(web.submit("shop").json["id"])
    web.sign_in(web.user())
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 0 WHERE tier = 'free'"))
    assert "Open the result" in card(check(web))
    assert "used up or reserved" in card(check(web, repository="acme/other"))


@pytest.mark.parametrize(("repository", "status", "told"), [
    ("acme/missing", 404, "no such repository"), ("acme/unreachable", 503, "cannot be reached"),
    ("https://example.org/a/b", 422, "allowed hosts"), ("https://github.com/a/b/pull/7", 422, "pull request"),
    ("", 422, "is empty"),
])  # fmt: skip
def test_a_refusal_is_told_beside_the_field(web: Web, repository: str, status: int, told: str) -> None:
    answer = check(web, repository=repository)
    assert answer.status_code == status
    assert told in answer.text
    assert jobs(web) == 0


def test_checking_needs_what_submitting_needs(make_web: Callable[..., Web]) -> None:
    web = make_web(allow_anonymous=False)
    assert web.post("/check", "/sign-in", repository="acme/shop").status_code == 401
    assert web.client.post("/check", data={"repository": "acme/shop"}).status_code == 400


@pytest.fixture
def local(web: Web, tmp_path: Path) -> Web:
    def git(*argv: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path / "shop"), *argv], check=True, capture_output=True)

    (tmp_path / "shop").mkdir()
    git("init", "-q", "--initial-branch=main")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first")
    git("branch", "feature/cart")
    git("branch", "packed")
    git("pack-refs", "--all")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "second")
    git("branch", "loose")
    settings = SETTINGS.model_copy(update={"local_repos_root": tmp_path})
    functions: Any = (partial(resolve_commit, settings=settings), "a secret", partial(branches, settings=settings))
    return replace(web, app=create_app(WebWiring(settings, web.uow, POLICY, *functions)))


def test_the_branches_of_a_local_repository_are_picked_without_javascript(local: Web) -> None:
    told = card(check(local, repository="local:shop"))
    names = [part.split("<")[0].split(">")[1] for part in told.split("<option")[1:]]
    assert names == ["feature/cart", "loose", "main", "packed"]
    assert "<option selected>main<" in told
    other = card(check(local, repository="local:shop", ref="packed"))
    assert "<option selected>packed<" in other
    assert told.split("<code>")[1][:10] != other.split("<code>")[1][:10]


def test_branches_behind_a_link_out_of_the_root_are_not_listed(local: Web, tmp_path: Path) -> None:
    heads = tmp_path / "shop" / ".git" / "refs" / "heads"
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    (outside / "secret").mkdir(parents=True)
    (outside / "secret" / "name").write_text("x", encoding="utf-8")
    (heads / "link").symlink_to(outside)
    answer = check(local, repository="local:shop")
    assert "secret" not in answer.text


@pytest.mark.proof
def test_a_pasted_address_is_checked_at_once(web: Web) -> None:
    job_id = web.submit("shop").json["id"]
    web.completed(job_id)
    with served(web.app) as address, chromium() as browser:
        page = browser.new_page()
        page.goto(address)
        page.fill("#repository", "github.com/acme/shop")
        page.press("#repository", "Tab")
        expect(page.get_by_role("link", name="Open the result")).to_have_attribute("href", f"/analyses/{job_id}")
        page.fill("#repository", "acme/missing")
        page.press("#repository", "Tab")
        expect(page.get_by_role("link", name="Open the result")).to_have_count(0)
        page.goto("about:blank")
