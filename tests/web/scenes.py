"""Every page in every state, with the longest of what people may meet there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page
from service_harness.application import POLICY, Web, commit_of
from service_harness.inventories import a_test, checked, file
from sqlalchemy import text

from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.services.accounts import accounts, bookmarks
from app.store.analyses.inventories import FileRow
from app.store.jobs import heartbeats

#: Of an owner and a repository, as long as GitHub allows.
LONG = "the-service-that-sells-everything-in-the-shop-" + "of_every_merchant_" * 3
OWNER = "a-company-with-a-long-name-and-a-suffix"
CANNOT_FAIL = ("empty", "no_check", "constant", "unreachable", "ignored")
STATUSES = ("active", "skipped", "todo", "focused", "xfail")
FRAMEWORKS = ("pytest", "unittest", "playwright", "go-testing", "microsoft.testing", "spock", "jest", "xunit", "catch2")
MILLIONS = {"tests": 1_234_567, "files": 98_765, "suites": 43_210}


@dataclass(frozen=True)
class Scene:
    """A state of a page.  build: makes it and gives its address; act: what the person does there, if anything."""

    endpoint: str
    build: Callable[[Web], str]
    act: Callable[[Page], object] | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def submit(repository: str) -> Callable[[Page], object]:
    """Send the form of the first page."""

    def act(page: Page) -> None:
        page.fill("#repository", repository)
        page.click("form.ask button")
        page.wait_for_load_state()

    return act


def long_job(web: Web, headers: dict[str, str] | None = None, **members: Any) -> str:
    asked = {"repository": f"https://github.com/{OWNER}/{LONG}", "ref": f"feature/{LONG}", **members}
    job_id: str = web.client.post("/api/v1/analyses", json=asked, headers=headers).json["id"]
    return job_id


def page_of(job_id: str) -> str:
    return f"/analyses/{job_id}"


def signed_in(web: Web, tier: Tier = Tier.FREE, *, is_operator: bool = False) -> accounts.Account:
    """A person with work in all states."""
    account = web.user(tier, is_operator=is_operator)
    web.sign_in(account)
    header = web.token(account.user_id)
    web.completed(long_job(web, header))
    run(web, "UPDATE analyses SET summary = summary || CAST(:sums AS jsonb)", sums=json.dumps(MILLIONS))
    web.failed(web.submit("failed", header).json["id"])
    running = web.started(web.submit("running", header).json["id"])
    with web.uow.begin() as tx:
        heartbeats.beat(tx, Service.ANALYSIS, running, ("parsing", 12_345, 98_765), lease_seconds=15)
    web.started(web.submit("waiting", header).json["id"])
    return account


def home_signed_in(web: Web) -> str:
    signed_in(web)
    return "/"


def spent(web: Web) -> str:
    run(web, "UPDATE subscription_plans SET analyses_per_period = 0 WHERE tier = 'free'")
    return "/"


def queued(web: Web) -> str:
    for number in range(11):
        web.submit(f"before{number}", web.token())
    return page_of(long_job(web))


def waiting(web: Web) -> str:
    header = web.token()
    web.started(web.submit("one", header).json["id"])
    job_id = long_job(web, header)
    web.started(job_id)
    return page_of(job_id)


def running(web: Web) -> str:
    job_id = long_job(web)
    delivery = web.started(job_id)
    with web.uow.begin() as tx:
        heartbeats.beat(tx, Service.ANALYSIS, delivery, ("parsing", 12_345, 98_765), lease_seconds=15)
    return page_of(job_id)


def rich_files(many: int = 900) -> list[FileRow]:
    """Many of everything, and names without a place to break them.  many: tests of one file."""
    folder = "packages/a-package-with-a-long-name/src/test/resources/" + "deep/" * 6
    tests = [
        a_test(f"test_{number}", line=12_345 + number, framework=framework, suites=("Suite" * 12, "and one in it"))
        | {"status": status, "kind": "benchmark" if number == 3 else "test", "cases": 1_234, "conditional": True}
        | ({"check_count": 1_234} if number % 2 else {"check_count": 0, "cannot_fail": CANNOT_FAIL[number % 5]})
        for number, (framework, status) in enumerate((f, s) for f in FRAMEWORKS for s in STATUSES)
    ]
    hints = ("stripe", "Cart.add", *(f"an.imported.module_{number}" for number in range(9)))
    return [
        file(folder + "test_" + "very_long_name_" * 8 + ".py", *tests, hints=hints),
        *(file(f"{'directory_' * 3}{number}/test_a.py", a_test("a", line=1_000)) for number in range(14)),
        file("tests/many.py", *(a_test(f"test_{number}", line=number) for number in range(1, many + 1))),
        file("broken.py", skipped="parse_failed"),
        file("large_" * 14 + ".js", skipped="too_large"),
    ]


def completed(web: Web, many: int = 900) -> str:
    job_id = long_job(web, ref=None)
    web.completed(job_id, rich_files(many))
    sums = MILLIONS | {"by_directory": {"packages/" + "directory_" * 3: 1_234_000, "tests": 567}}
    sums |= {"unread": {"Scala": 1_234, "Haskell": 12}}
    run(web, "UPDATE analyses SET summary = summary || CAST(:sums AS jsonb)", sums=json.dumps(sums))
    before = long_job(web, ref="v1.0")
    web.completed(before)
    run(web, "UPDATE analyses SET completed_at = completed_at - interval '1 day', parser_version = '0.9'")
    return page_of(job_id)


def long_checks() -> dict[str, Any]:
    """Checks of each form, some with long sources."""
    source = f"Cart({LONG}).total_of_all(items=[" + "apple, " * 15 + "])"
    reached = {"by": f"self.check_{LONG}", "file": f"packages/{LONG}/shared.py"}
    return checked(
        {"line": 3, "relation": "equal", "subject": "cart.total", "expected": "3"},
        {"line": 12_345, "relation": "equal", "negated": True, "subject": source, "expected": "x" * 200},
        {
            "line": 12_346,
            "relation": "raises",
            "expected": "ValueError",
            "message": "no such .* in the cart",
            **reached,
        },
        {"line": 12_347, "relation": "approximate", "subject": "a", "expected": "0.1", "tolerance": "abs=1e-9"},
        {"line": 12_348, "relation": "truthy", "subject": "True", "idle": "constant"},
    )


def one_test(web: Web) -> str:
    """Of many commits: it came, rested and returned, and its file could not be read for a while."""
    path = f"packages/{LONG}/tests/test_{LONG}.py"
    suites = (f"Suite{LONG}", "and one in it")
    job_id = ""
    for commit in range(12):
        status = "skipped" if commit in (4, 5) else "active"
        found = [a_test(f"test_{LONG}", line=1234, suites=suites, status=status) for _ in range(2 if commit > 9 else 1)]
        job_id = long_job(web, ref=f"release/{commit}")
        if commit > 9:
            found[0] |= {"check_count": 70}
            found[1] |= {"check_count": 0, "cannot_fail": "unreachable"}
        some = file(path, *(found if commit > 1 else []), checks=(long_checks(), None) if commit > 9 else ())
        files = file(path, skipped="too_large") if commit == 7 else some
        web.completed(job_id, [files])
    known_by = [("file", path), *(("suite", suite) for suite in suites), ("name", f"test_{LONG}")]
    return f"{page_of(job_id)}/test?{urlencode(known_by)}"


def narrowed(web: Web) -> str:
    return completed(web) + "?q=nothing+has+this+name&status=active&about=stripe#tests"


def without_tests(web: Web) -> str:
    job_id = long_job(web)
    web.completed(job_id, [])
    return page_of(job_id)


def failed(web: Web) -> str:
    job_id = long_job(web)
    web.failed(job_id, "repository_not_found", f"There is no repository {OWNER}/{LONG}, or nobody may read it.")
    return page_of(job_id)


def cancelled(web: Web) -> str:
    header = web.token()
    job_id = long_job(web, header)
    web.client.delete(f"/api/v1/analyses/{job_id}", headers=header)
    return page_of(job_id)


def sides(web: Web) -> tuple[str, str]:
    """Two results of one repository with a change of each group."""
    before, after = long_job(web, ref="one"), long_job(web, ref="two")
    body = a_test("test_" + "first_name_" * 6, line=1_234) | {"end_line": 1_239}
    folder = "a-folder/" * 8
    web.completed(before, [
        file(folder + "a.py", a_test("test_stays"), a_test("test_goes", line=2), a_test("test_rests", line=3)),
        file(folder + "moved.py", a_test("test_moves", line=12_345), a_test("test_goes_along", line=12_346)),
        file("b/old.py", body), file("c/unreadable.py", skipped="too_large"),
    ])  # fmt: skip
    web.completed(after, [
        file(folder + "a.py", a_test("test_stays"), a_test("test_rests", line=3, status="skipped")),
        file("there/moved.py", a_test("test_moves", line=12_345), a_test("test_goes_along", line=12_346)),
        file("b/old.py", body | {"name": "test_" + "second_name_" * 6}), file("c/unreadable.py", a_test("x")),
        file("many.py", *(a_test(f"test_{number}", line=number + 1_000) for number in range(850))),
    ])  # fmt: skip
    return before, after


def compared(web: Web) -> str:
    return "/analyses/{}/compare/{}".format(*sides(web))


def compared_with_itself(web: Web) -> str:
    before, _ = sides(web)
    return f"/analyses/{before}/compare/{before}"


def choose_other(web: Web) -> str:
    return page_of(sides(web)[1]) + "/compare"


def no_other(web: Web) -> str:
    return f"{without_tests(web)}/compare?commit={commit_of('other')}"


def history(web: Web) -> str:
    signed_in(web)
    return "/history?limit=2"


def empty_history(web: Web) -> str:
    web.sign_in(web.user())
    return "/history"


def usage(web: Web) -> str:
    account = signed_in(web, Tier.PRO_PLUS)
    spend = """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
               VALUES (:user_id, 'specview', 240000, gen_random_uuid(), gen_random_uuid(), now(), now()),
                      (:user_id, 'analysis', 3999, gen_random_uuid(), gen_random_uuid(), now(), now())"""
    run(web, spend, user_id=account.user_id)
    return "/usage"


def tokens(web: Web) -> str:
    account = web.user()
    web.sign_in(account)
    web.token(account.user_id)
    return "/tokens"


def no_tokens(web: Web) -> str:
    web.sign_in(web.user())
    return "/tokens"


def new_token(page: Page) -> None:
    page.fill("[name=name]", LONG[:100])
    page.click("button.primary")
    page.wait_for_selector(".secret")


def already_in(web: Web) -> str:
    web.sign_in(web.user())
    return "/sign-in"


def forbidden(web: Web) -> str:
    web.sign_in(web.user())
    return "/operator"


def home(_: Web) -> str:
    return "/"


def open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")


def run(web: Web, statement: str, **parameters: object) -> None:
    with web.uow.begin() as tx:
        tx.run(text(statement), **parameters)


REPOSITORY = f"/repositories/github.com/{OWNER}/{LONG}"


def repository_of_a_visitor(web: Web) -> str:
    for ref in ("first", "second", "third"):
        web.completed(long_job(web, ref=ref))
    run(web, "UPDATE analyses SET summary = summary || CAST(:sums AS jsonb)", sums=json.dumps(MILLIONS))
    return REPOSITORY


def repository(web: Web) -> str:
    signed_in(web)
    return repository_of_a_visitor(web)


def explored(web: Web) -> str:
    repository_of_a_visitor(web)
    web.completed(web.submit("shop").json["id"])
    return "/explore"


def bookmarked(web: Web) -> str:
    account = signed_in(web)
    where = Repository("github.com", OWNER, LONG)
    bookmarks.add(web.uow, account, where, POLICY, now=datetime.now(UTC))
    return "/bookmarks"


def plans(web: Web) -> str:
    web.sign_in(web.user())
    return "/plans"


def nothing_bookmarked(web: Web) -> str:
    web.sign_in(web.user())
    return "/bookmarks"


SCENES = {
    "home": Scene("pages.home", home),
    "home with an example": Scene("pages.home", lambda _: "/?repository=" + "psf/requests" * 20),
    "home that serves members only": Scene("pages.home", home, settings={"allow_anonymous": False}),
    "home of a person": Scene("pages.home", home_signed_in),
    "home with a wrong address": Scene("pages.submit_form", home, submit("ftp://<b>x</b>/" + LONG)),
    "home with the quota spent": Scene("pages.submit_form", spent, submit(f"{OWNER}/shop")),
    "too many requests": Scene("pages.submit_form", home, submit("a/b"), settings={"rate_limit_per_minute": 0}),
    "job queued": Scene("pages.show_job", queued),
    "job waiting": Scene("pages.show_job", waiting),
    "job running": Scene("pages.show_job", running),
    "job completed": Scene("pages.show_job", completed, open_all),
    "job completed, nothing matches": Scene("pages.show_job", narrowed),
    "job completed, by name": Scene("pages.show_job", lambda web: completed(web) + "?sort=name#tests"),
    "job completed, as a tree": Scene("pages.show_job", lambda web: completed(web) + "?view=tree#tests"),
    "timeline": Scene("pages.show_timeline", lambda web: completed(web) + "/timeline"),
    "one test": Scene("pages.show_test", one_test),
    "job completed without tests": Scene("pages.show_job", without_tests),
    "job failed": Scene("pages.show_job", failed, open_all),
    "job cancelled": Scene("pages.show_job", cancelled),
    "comparison": Scene("pages.show_comparison", compared, open_all),
    "comparison without a change": Scene("pages.show_comparison", compared_with_itself),
    "other commits": Scene("pages.choose_other", choose_other),
    "no other commit": Scene("pages.choose_other", no_other),
    "repository": Scene("pages.show_repository", repository),
    "repository, a visitor": Scene("pages.show_repository", repository_of_a_visitor),
    "explore": Scene("pages.show_explore", explored),
    "explore, nothing matches": Scene("pages.show_explore", lambda _: "/explore?q=" + "nothing" * 12),
    "bookmarks": Scene("pages.show_bookmarks", bookmarked),
    "no bookmarks": Scene("pages.show_bookmarks", nothing_bookmarked),
    "plans": Scene("pages.show_plans", plans),
    "history": Scene("pages.show_history", history),
    "history of nothing": Scene("pages.show_history", empty_history),
    "usage": Scene("pages.show_usage", usage),
    "usage of a visitor": Scene("pages.show_usage", lambda _: "/usage"),
    "tokens, one of them new": Scene("pages.add_token", tokens, new_token),
    "tokens of a new person": Scene("pages.show_tokens", no_tokens),
    "sign in": Scene("pages.show_sign_in", lambda _: "/sign-in"),
    "sign in by a link": Scene("pages.show_sign_in", lambda _: "/sign-in?token=" + "x" * 43),
    "sign in again": Scene("pages.show_sign_in", already_in),
    "api": Scene("pages.show_api", lambda _: "/docs/api", open_all),
    "nothing here": Scene("", lambda _: "/nothing"),
    "not an operator": Scene("pages.show_operator", forbidden),
    "not signed in": Scene("pages.show_history", lambda _: "/history"),
}
