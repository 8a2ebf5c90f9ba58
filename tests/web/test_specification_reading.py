"""The pages of specifications over real documents: asked for, followed, read, compared, shared."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from service_harness.application import Web, csrf
from service_harness.inventories import a_test, file, inventory
from service_harness.scribe import Scribe
from sqlalchemy import text

from app import sample
from app.cli.inventory import inventory as inventory_command
from app.domain.plans import Tier
from app.domain.queues import Service
from app.services.accounts.accounts import Account
from app.specview.builtin import built_in
from app.specview.generator import Generator
from app.store.analyses.inventories import FileRow
from app.web.core.context import EXTENSION
from app.web.limits.read_costs import READS


@pytest.fixture
def ann(web: Web) -> Account:
    """A person who has signed in."""
    account = web.user(Tier.PRO)
    web.sign_in(account)
    return account


def analysed(web: Web, account: Account, *, files: object = None, **members: str) -> str:
    job_id: str = web.submit(headers=web.token(account.user_id), **members).json["id"]
    web.completed(job_id, files)  # type: ignore[arg-type]
    return job_id


def asked(web: Web, analysis: str, **fields: str) -> str:
    """The page of the job that the form of the box makes."""
    answer = web.post(f"/analyses/{analysis}/specify", f"/analyses/{analysis}", **fields)
    assert answer.status_code == 303, answer.text
    return str(answer.location)


def written(web: Web, analysis: str, generator: Generator | None = None, **fields: str) -> str:
    page = asked(web, analysis, **fields)
    web.written(page.rpartition("/")[2], generator)
    return page


def test_the_box_says_what_it_costs_and_the_document_follows(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    box = web.client.get(f"/analyses/{analysis}").text
    cost = f"/analyses/{analysis}/specify?language=en"
    assert f'3 tests in English: <a href="{cost}">see what it would cost</a>' in box
    assert "3 tests in English: <strong>3 units</strong>" in web.client.get(cost).text
    assert "You have 50,000 of 50,000 units left until" in box
    page = asked(web, analysis, language="en")
    live = web.client.get(page).text
    assert f'data-events="/api/v1{page}/events"' in live
    assert f'action="{page}/cancel"' in live
    assert f'<a href="{page}">Follow it</a>' in web.client.get(f"/analyses/{analysis}").text
    web.written(page.rpartition("/")[2])
    document = web.client.get(page).text
    assert "<strong>3</strong> behaviours" in document
    assert '<bdi translate="no" lang="en">Says test_rounds.</bdi>' in document
    assert f'href="/api/v1{page}.md">Markdown</a>' in document
    box = web.client.get(f"/analyses/{analysis}").text
    assert f'<a href="{page}">Read version 1 in English</a>' in box
    assert f'<a href="{cost}">Make a new version</a>' in box
    box = web.client.get(cost).text
    assert (
        '<button name="mode" value="regenerate_cached">New version from stored sentences</button> <span>free</span>'
        in box
    )
    for where in (box, web.client.get(page).text):  # the built-in generator would write the same
        assert "Write everything anew" not in where
        assert "If no sentence has changed, you get the same version again." in where
    for mode in ("regenerate_cached", "regenerate_fresh"):
        assert asked(web, analysis, language="en", mode=mode) == page


def test_where_a_model_writes_everything_may_be_written_anew(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    page = written(web, analysis, language="en")
    services = web.app.extensions[EXTENSION]
    policy = replace(services.policy, generator="a model")
    web.app.extensions[EXTENSION] = replace(services, policy=policy)
    box = web.client.get(f"/analyses/{analysis}/specify?language=en").text
    assert '<button name="mode" value="regenerate_fresh">Write everything anew</button> <span>3 units</span>' in box
    assert '<button name="mode" value="regenerate_fresh">Write everything anew</button>' in web.client.get(page).text


def test_a_result_its_price_and_its_specification_count_the_same_tests(web: Web, ann: Account, tmp_path: Path) -> None:
    """The sample has eleven tests, and a subtest, which is a behaviour of its own."""
    sample.make(tmp_path)
    listed = CliRunner().invoke(inventory_command, [str(tmp_path / sample.NAME), "--format", "jsonl"]).stdout
    files: dict[str, list[dict[str, Any]]] = {}
    for line in listed.splitlines():
        test = json.loads(line)
        files.setdefault(test.pop("file"), []).append(test)
    analysis = analysed(web, ann, files=[file(path, *tests) for path, tests in files.items()])
    assert "11 tests and 1 subtest" in web.client.get(f"/analyses/{analysis}").text
    price = web.client.get(f"/analyses/{analysis}/specify?language=en").text
    assert "<span>11 tests and 1 subtest</span>" in price
    assert "11 tests and 1 subtest in English: <strong>12 units</strong>" in price
    dry = {"analysis_id": analysis, "dry_run": True}
    told = web.client.post("/api/v1/specs", json=dry, headers=web.token(ann.user_id)).json
    assert (told["tests"], told["subtests"], told["units"]) == (11, 1, 12)
    page = written(web, analysis, language="en")
    assert "<strong>12</strong> behaviours" in web.client.get(page).text
    assert "of 11 tests and 1 subtest" in web.client.get(page).text


def test_a_document_is_deleted_by_its_button_and_by_the_api(web: Web, ann: Account) -> None:
    page = written(web, analysed(web, ann), language="en")
    assert f'action="{page}/delete"' in web.client.get(page).text
    assert web.post(f"{page}/delete", page).location == "/history"
    assert web.client.get(page).status_code == 404
    again = written(web, analysed(web, ann, commit="b" * 40), language="en")
    header = web.token(ann.user_id)
    assert web.client.delete(f"/api/v1{again}", headers=web.token(ann.user_id, "read")).status_code == 403
    assert [web.client.delete(f"/api/v1{again}", headers=header).status_code for _ in range(2)] == [204, 404]
    assert web.client.get("/api/v1/usage", headers=header).json["specview"]["used"] == 3


def test_another_language_is_chosen_first(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    chosen = web.client.get(f"/analyses/{analysis}/specify?language=ko").text
    assert "3 tests in Korean: <strong>3 units</strong>" in chosen
    page = written(web, analysis, language="ko")
    assert '<h2 id="contents" translate="no" lang="ko">목차</h2>' in web.client.get(page).text
    assert web.client.get(f"/analyses/{analysis}/specify?language=tlh").status_code == 422


def test_visitors_are_told_to_sign_in_and_a_commit_without_tests_says_so(web: Web) -> None:
    job_id = web.submit().json["id"]
    web.completed(job_id)
    seen = web.client.get(f"/analyses/{job_id}").text
    assert 'To request one, <a href="/sign-in?next=' in seen
    assert "Make a specification" not in seen
    assert web.client.get(f"/analyses/{job_id}/specify").status_code == 401
    assert web.post(f"/analyses/{job_id}/specify", language="en").status_code == 401
    empty = web.submit("empty").json["id"]
    web.completed(empty, [])
    assert "This commit has no tests, so there is nothing to specify." in web.client.get(f"/analyses/{empty}").text


def test_the_page_of_a_result_counts_no_units(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    with web.uow.begin() as tx:  # whoever counts would wait for it
        tx.run(text("LOCK TABLE spec_words IN ACCESS EXCLUSIVE MODE"))
        box = web.client.get(f"/analyses/{analysis}").text
    assert "Make a specification" in box


def test_counting_what_it_would_cost_is_charged_by_its_size(make_web: Callable[..., Web]) -> None:
    web = make_web(read_limit_per_minute=5)
    web.app.extensions[READS].buckets.clock = lambda: 0.0
    account = web.user(Tier.PRO)
    web.sign_in(account)
    token = web.token(account.user_id)
    files = [file("tests/test_x.py", *(a_test(f"test_{n}", line=n) for n in range(1, 601)))]
    analysis = analysed(web, account, files=files)
    dry = {"analysis_id": analysis, "dry_run": True}
    answers = [web.client.post("/api/v1/specs", json=dry, headers=token) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1].headers["Retry-After"]) > 0


def test_a_quota_that_does_not_reach_is_explained(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET spec_units_per_period = 2 WHERE tier = 'pro'"))
    assert "more than the 2 units left" in web.client.get(f"/analyses/{analysis}/specify").text
    refused = web.post(f"/analyses/{analysis}/specify", f"/analyses/{analysis}", language="en")
    assert refused.status_code == 402
    assert "Your quota does not cover this." in refused.text
    assert "Ask the operator for a tier with more units." in refused.text
    assert "Nothing was billed." in refused.text


def test_a_job_under_way_is_cancelled_by_its_form(web: Web, ann: Account) -> None:
    page = asked(web, analysed(web, ann), language="en")
    assert web.post(f"{page}/cancel", page).location == page
    ended = web.client.get(page).text
    assert "You cancelled it. Nobody is billed for it." in ended
    assert '<input type="hidden" name="mode" value="initial">' in ended


def test_a_failed_job_is_tried_again_by_the_button_of_its_page(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    page = asked(web, analysis, language="ko", mode="regenerate_fresh")
    web.failed(page.rpartition("/")[2], "model_away", "The model did not answer.", Service.SPECVIEW)
    assert web.client.get("/api/v1/usage").json["specview"]["reserved"] == 0
    ended = web.client.get(page).text.partition('<form class="actions"')[2].partition("</form>")[0]
    assert "Try again" in ended
    where = ended.partition('action="')[2].partition('"')[0]
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', ended))
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET spec_units_per_period = 2 WHERE tier = 'pro'"))
    assert web.client.post(where, data=sent).status_code == 402
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET spec_units_per_period = 3 WHERE tier = 'pro'"))
    again = web.client.post(where, data=sent)
    assert again.status_code == 303
    assert again.location != page
    job = web.client.get(f"/api/v1{again.location}").json
    assert (job["status"], job["language"], job["mode"]) == ("queued", "ko", "regenerate_cached")
    assert web.client.get("/api/v1/usage").json["specview"]["reserved"] == 3
    assert web.client.post(where, data=sent).location == again.location  # pressed twice: the job under way


def test_only_the_owner_and_an_operator_see_the_pages(web: Web, ann: Account) -> None:
    page = written(web, analysed(web, ann), language="en")
    paths = ("", "/history", f"/compare/{page.rpartition('/')[2]}")
    token = csrf(web.client.get("/"))
    web.sign_in(web.user())
    for path in paths:
        assert web.client.get(page + path).status_code == 404, path
    for path in ("/share", "/withdraw", "/cancel", "/delete"):
        assert web.post(page + path).status_code == 404, path
    web.client.delete_cookie("fairlane")
    for path in paths:
        answer = web.client.get(page + path)
        assert (answer.status_code, "Sign in" in answer.text) == (401, True), path
    for path in ("/share", "/withdraw", "/cancel", "/delete"):
        assert web.post(page + path).status_code == 401, path
        assert web.client.post(page + path, data={"csrf_token": token}).status_code == 400, path
    web.sign_in(web.user(is_operator=True))
    seen = web.client.get(page)
    assert seen.status_code == 200
    assert "Create a link" not in seen.text
    assert "Delete this version" not in seen.text
    assert web.post(f"{page}/delete").status_code == 403
    assert web.post(f"{page}/share").status_code == 403


def test_an_operator_is_told_whose_specifications_they_read(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    page, waiting = written(web, analysis, language="en"), asked(web, analysis, language="ko")
    paths = (page, f"{page}/history", f"{page}/compare/{page.rpartition('/')[2]}", waiting)
    owner = f"of {ann.email}"
    for path in paths:
        assert owner not in web.client.get(path).text, path
    assert "Yours, newest first" in web.client.get(f"{page}/history").text
    web.sign_in(web.user(is_operator=True))
    for path in paths:
        seen = web.client.get(path).text
        assert owner in seen, path
        assert "Yours" not in seen, path


def test_documents_of_two_repositories_are_compared_as_such(web: Web, ann: Account) -> None:
    one = written(web, analysed(web, ann), language="en")
    fork = written(web, analysed(web, ann, name="fork"), language="en")
    seen = web.client.get(f"{one}/compare/{fork.rpartition('/')[2]}").text
    assert "What changed between two specifications" in seen
    assert 'from <span translate="no">acme/shop</span>' in " ".join(seen.split())
    assert 'to <span translate="no">acme/fork</span>' in " ".join(seen.split())
    assert "These are two repositories" in seen
    assert "<strong>3</strong> unchanged" in seen
    same = web.client.get(f"{one}/compare/{one.rpartition('/')[2]}").text
    assert "What changed in the specification of acme/shop" in same
    assert "two repositories" not in same


def test_writes_need_the_token_of_a_form(web: Web, ann: Account) -> None:
    page = written(web, analysed(web, ann), language="en")
    for path in ("/share", "/withdraw", "/cancel", "/delete"):
        assert web.client.post(page + path).status_code == 400, path
    assert web.client.get(page).text.count("Create a link") == 1


def test_versions_languages_and_commits_lead_to_each_other(web: Web, ann: Account) -> None:
    first = analysed(web, ann)
    old = written(web, first, Scribe(falls_back=frozenset({"test_rounds"})), language="en")
    korean = written(web, first, language="ko")
    again = written(web, first, language="en", mode="regenerate_cached")
    more = [*inventory(), file("tests/test_new.py", a_test("test_new"))]
    new = written(web, analysed(web, ann, files=more, commit="a" * 40), language="en")
    seen = web.client.get(again).text
    for path in (old, korean):
        assert f'<a href="{path}"' in seen
    assert f'<a href="{again}" aria-current="page">2</a>' in seen
    assert f'href="{old}/compare/{again.rpartition("/")[2]}">What changed</a>' in seen
    listed = web.client.get(f"{new}/history").text
    assert listed.count("<tr>") == 1 + 3
    assert "1 added" in listed
    narrowed = web.client.get(f"{new}/history?language=ko").text
    assert narrowed.count("<tr>") == 1 + 1
    compared = web.client.get(f"{old}/compare/{new.rpartition('/')[2]}").text
    assert "Says test_new." in compared
    assert "<strong>3</strong> unchanged" in compared
    two = web.client.get(f"{old}/compare/{korean.rpartition('/')[2]}")
    assert (two.status_code, "every sentence differs" in two.text) == (409, True)
    waiting = asked(web, analysed(web, ann, commit="b" * 40), language="en")
    assert web.client.get(f"{old}/compare/{waiting.rpartition('/')[2]}").status_code == 409


@pytest.mark.proof
def test_the_history_says_where_it_counts_no_changes_and_tells_them_once_compared(web: Web, ann: Account) -> None:
    def pair(*names: str) -> list[FileRow]:
        tests = [a_test(f"test_{n}", line=n) for n in range(1, 2_600)] + [a_test(name) for name in names]
        return [file("tests/test_large.py", *tests)]

    old = written(web, analysed(web, ann, files=pair("test_goes")), language="en")
    new = written(web, analysed(web, ann, files=pair("test_comes"), commit="a" * 40), language="en")
    listed = web.client.get(f"{new}/history").text
    assert '<span class="hint">not counted</span>' in listed
    assert "Changes of large documents are not counted here" in listed
    assert web.client.get(f"{old}/compare/{new.rpartition('/')[2]}").status_code == 200
    listed = web.client.get(f"{new}/history").text
    assert "1 added" in listed
    assert "1 removed" in listed
    assert "not counted" not in listed


def test_the_lists_have_specifications_beside_analyses(web: Web, ann: Account) -> None:
    analysis = analysed(web, ann)
    page = written(web, analysis, language="en")
    waiting = asked(web, analysis, language="ko")
    for path in ("/history", "/"):
        seen = web.client.get(path).text
        assert f'<a href="{page}" translate="no">acme/shop</a>' in seen
        assert "specification (en, version 1) of" in seen
        assert f'<a href="{waiting}" translate="no">' in seen
    usage = web.client.get("/usage").text
    assert f'<a href="{waiting}">' in usage
    assert 'href="#"' not in usage


def test_form_writes_are_throttled(make_web: object) -> None:
    web: Web = make_web(rate_limit_per_minute=1)  # type: ignore[operator]
    web.sign_in(web.user())
    path = "/analyses/0f0e0d0c-0000-4000-8000-000000000000/specify"
    assert [web.post(path, language="en").status_code for _ in range(2)] == [404, 429]


def test_names_between_backticks_are_code_and_what_is_in_them_stays_text(web: Web) -> None:
    told = web.app.jinja_env.filters["sentence"]
    assert told("Covers `a<b>` & `c`.") == "Covers <code>a&lt;b&gt;</code> &amp; <code>c</code>."
    for odd in ("a ` b", "```", "``", "<i>`</i>"):
        assert "<code>" not in told(odd)
        assert "<i>" not in told(odd)
    assert told("`\u202eevil`") == "<code>[U+202E]evil</code>"


@pytest.mark.proof
def test_sheets_of_10_000_behaviours_come_quickly(web: Web, ann: Account) -> None:
    files = [
        file(f"tests/part{part}/test_{one}.py", *(a_test(f"test_keeps_rule_{n}", line=n) for n in range(1, 21)))
        for part in range(20)
        for one in range(25)
    ]
    page = written(web, analysed(web, ann, files=files), built_in(), language="en")
    for query in ("", "?page=7", "?q=rule+7&status=active"):
        before = time.process_time()
        seen = web.client.get(page + query).text
        assert time.process_time() - before < 2, query  # 0.3 s on two cores (2026-11)
        assert "<strong>10,000</strong> behaviours" in seen
        assert 0 < seen.count("<li data-status") <= 1_000
        assert len(seen) < 700_000
