"""Pages as a person without JavaScript uses them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from service_harness.application import Web, csrf
from service_harness.inventories import a_test, file
from sqlalchemy import text

from app.domain.plans import Tier
from app.domain.queues import Service
from app.services.accounts import sessions
from app.store.jobs import heartbeats
from tests.web.test_read import HOSTILE_NAMES


def test_a_person_submits_follows_and_reads_the_result(web: Web) -> None:
    sent = web.post("/analyses", repository="https://github.com/acme/shop")
    assert sent.status_code == 303
    page = sent.headers["Location"]
    waiting = web.client.get(page)
    assert "Queued" in waiting.text
    assert '<noscript><meta http-equiv="refresh"' in waiting.text
    job_id = page.rpartition("/")[2]
    delivery = web.started(job_id)
    with web.uow.begin() as tx:
        heartbeats.beat(tx, Service.ANALYSIS, delivery, ("parsing", 127, 340), lease_seconds=15)
    assert "127 of 340 files" in web.client.get(page).text


def test_a_result_shows_totals_charts_tests_and_skipped_files(web: Web) -> None:
    job_id = web.submit().json["id"]
    web.completed(job_id)
    page = web.client.get(f"/analyses/{job_id}").text
    assert "<strong>3</strong> tests" in page
    assert "<strong>1</strong> suite</div>" in page
    assert "http-equiv" not in page
    assert "xfail: 1 test, 33.33 %" in page
    assert re.search(r'tests/unit/test_price.py#L4" rel="noreferrer">4</a>', page)
    assert "https://github.com/acme/shop/blob/" in page
    assert "1 file could not be read" in page
    assert "syntax_error" in page


def test_hostile_names_are_shown_not_run(web: Web) -> None:
    job_id = web.submit().json["id"]
    rows = [a_test(name, line=n, suites=(name,), framework="<b>x") for n, name in enumerate(HOSTILE_NAMES, 1)]
    web.completed(job_id, [file("<i>/\u202etest_x.py", *rows)])
    page = web.client.get(f"/analyses/{job_id}").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "<b>x" not in page
    assert "<i>/" not in page
    assert not re.search("[\u202e\x07\x1b]", page)
    assert "evil[U+202E]txt" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_wrong_address_is_told_beside_the_field(web: Web) -> None:
    sent = web.post("/analyses", repository="ftp://<b>x</b>/y")
    assert sent.status_code == 422
    assert 'aria-invalid="true"' in sent.text
    assert 'value="ftp://&lt;b&gt;x&lt;/b&gt;/y"' in sent.text
    assert web.post("/analyses", repository="acme/missing").status_code == 404
    assert web.post("/analyses", repository="").status_code == 422


def test_a_form_without_its_csrf_token_is_refused(web: Web) -> None:
    for path in ("/analyses", "/sign-in", "/sign-out", "/tokens"):
        refused = web.client.post(path, data={"repository": "acme/shop"})
        assert (refused.status_code, refused.mimetype) == (400, "text/html"), path
    with web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM kombu_message")).scalar_one() == 0


def test_a_session_cookie_alone_cannot_write_through_the_api(make_web: Callable[..., Web]) -> None:
    web = make_web(allow_anonymous=False)
    web.sign_in(web.user())
    assert web.client.get("/api/v1/me").status_code == 200
    assert web.submit("shop").status_code == 401


def test_a_link_signs_in_once_and_only_by_its_button(web: Web) -> None:
    user = web.user()
    secret = sessions.sign_in_link(web.uow, user.user_id, actor="cli:test", now=datetime.now(UTC))
    path = f"/sign-in?token={secret}"
    for _ in range(2):  # previews of links do not spend them
        page = web.client.get(path)
    answer = web.client.post("/sign-in", data={"token": secret, "csrf_token": csrf(page)})
    cookie = answer.headers["Set-Cookie"]
    assert answer.status_code == 303
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie
    assert user.email in web.client.get("/").text
    again = web.app.test_client()
    spent = again.post("/sign-in", data={"token": secret, "csrf_token": csrf(again.get(path))})
    assert spent.status_code == 422


def test_cookies_are_secure_on_https(web: Web) -> None:
    answer = web.client.get("/", base_url="https://localhost")
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-fairlane=")
    assert {"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie


def test_a_cookie_without_the_prefix_counts_for_nothing_on_https(web: Web) -> None:
    web.sign_in(web.user())
    planted = web.client.get_cookie("fairlane")
    assert planted
    assert web.client.get("/api/v1/me").status_code == 200
    victim = web.app.test_client()
    victim.set_cookie("fairlane", planted.value)
    assert victim.get("/api/v1/me", base_url="https://localhost").status_code == 401
    victim.set_cookie("__Host-fairlane", planted.value, secure=True)
    assert victim.get("/api/v1/me", base_url="https://localhost").status_code == 200


def test_nothing_secret_or_personal_is_kept_by_a_cache(web: Web) -> None:
    web.sign_in(web.user(is_operator=True))
    job_id = web.submit().json["id"]
    pages = [
        "/",
        "/usage",
        "/history",
        "/tokens",
        "/operator",
        f"/analyses/{job_id}",
        "/sign-in?token=secret",
        "/docs/api",
    ]
    api = ["/api/v1/me", "/api/v1/me/tokens", "/api/v1/me/history", "/api/v1/usage", "/api/v1/usage/reservations"]
    for path in [*pages, *api]:
        answer = web.client.get(path)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store"), path
    made = web.post("/tokens", page="/tokens", name="CI")
    assert "fl_" in made.text
    assert made.headers["Cache-Control"] == "no-store"
    by_api = web.client.post("/api/v1/me/tokens", json={}, headers=web.token())
    assert by_api.headers["Cache-Control"] == "no-store"
    assert web.client.get(f"/api/v1/analyses/{job_id}").headers["Cache-Control"] == "private, no-cache"


def test_signing_out_ends_the_session_on_the_server(web: Web) -> None:
    web.sign_in(web.user())
    stolen = web.client.get_cookie("fairlane")
    assert stolen
    web.post("/sign-out")
    thief = web.app.test_client()
    thief.set_cookie("fairlane", stolen.value)
    assert thief.get("/api/v1/me").status_code == 401


def test_the_forms_of_a_job_cancel_and_try_again(web: Web) -> None:
    web.sign_in(web.user())
    page = web.post("/analyses", repository="acme/shop").headers["Location"]
    assert web.post(f"{page}/cancel", page=page).status_code == 303
    cancelled = web.client.get(page).text
    assert "Nobody is billed" in cancelled
    again = web.post("/analyses", page=page, repository="https://github.com/acme/shop", retry="true")
    assert again.headers["Location"] != page


def test_a_visitor_may_cancel_what_they_asked_for_and_a_stranger_sees_no_button(web: Web) -> None:
    page = web.post("/analyses", repository="acme/shop").headers["Location"]
    assert "/cancel" in web.client.get(page).text
    assert "/cancel" not in web.app.test_client().get(page).text
    assert web.post(f"{page}/cancel", page=page).status_code == 303


def test_a_failure_says_whose_fault_it_is_and_that_it_is_free(web: Web) -> None:
    for name, code, words in (
        ("a", "repository_too_large", "about the repository"),
        ("b", "worker_lost", "fault is ours"),
    ):
        job_id = web.submit(name, web.token()).json["id"]
        web.failed(job_id, code, "It <b>failed</b>.")
        page = web.client.get(f"/analyses/{job_id}").text
        assert words in page
        assert "not billed" in page
        assert "It &lt;b&gt;failed" in page
        assert "Try again" in page
        assert code in page


def test_an_outdated_result_offers_a_new_one(web: Web) -> None:
    job_id = web.submit().json["id"]
    web.completed(job_id)
    assert "This result is outdated" not in web.client.get(f"/analyses/{job_id}").text
    with web.uow.begin() as tx:
        tx.run(text("UPDATE analyses SET parser_version = '0.9'"))
    assert "This result is outdated" in web.client.get(f"/analyses/{job_id}").text


def test_a_git_host_that_does_not_answer_is_told_beside_the_field_which_keeps_what_was_typed(web: Web) -> None:
    sent = web.post("/analyses", repository="https://github.com/acme/unreachable")
    assert (sent.status_code, sent.headers["Retry-After"]) == (503, "30")
    assert 'value="https://github.com/acme/unreachable"' in sent.text
    assert "The Git host cannot be reached" in sent.text


def test_a_held_quota_keeps_what_was_typed_and_says_what_to_do(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 1 WHERE tier = 'free'"))
    assert web.post("/analyses", repository="https://github.com/acme/one").status_code == 303
    refused = web.post("/analyses", repository="https://github.com/acme/two")
    assert refused.status_code == 402
    assert 'value="https://github.com/acme/two"' in refused.text
    assert "cancel one" in refused.text


def test_whatever_refuses_a_submission_keeps_what_was_typed(make_web: Callable[..., Web]) -> None:
    web = make_web(rate_limit_per_minute=1)
    assert web.post("/analyses", repository="https://github.com/acme/one").status_code == 303
    refused = web.post("/analyses", repository="https://github.com/acme/two", ref="dev")
    assert refused.status_code == 429
    assert 'value="https://github.com/acme/two"' in refused.text
    assert 'name="ref" value="dev"' in refused.text


def test_a_snoozed_job_says_why_it_waits(web: Web) -> None:
    user = web.user()
    headers = web.token(user.user_id)
    web.started(web.submit("one", headers).json["id"])
    second = web.submit("two", headers).json["id"]
    web.started(second)
    web.sign_in(user)
    page = web.client.get(f"/analyses/{second}").text
    assert "Your jobs use 1 of 1 slots of tier free" in page
    assert 'state waiting"' in page
    assert re.search(r">Waiting<.*\n.*[Ww]aiting", page) is None  # the state says it already


def test_usage_shows_used_reserved_and_free_with_its_thresholds(web: Web) -> None:
    user = web.user()
    web.sign_in(user)
    web.submit("shop", web.token(user.user_id))
    with web.uow.begin() as tx:
        spend = """INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
                   SELECT :user_id, 'analysis', 1, gen_random_uuid(), gen_random_uuid(), now(), now()
                     FROM generate_series(1, :count)"""
        tx.run(text(spend), user_id=user.user_id, count=35)
    page = web.client.get("/usage").text
    assert "35 used, 1 reserved of 50" in page
    assert "More than 70 %" in page
    assert page.count("/analyses/") == 1
    with web.uow.begin() as tx:
        tx.run(text(spend), user_id=user.user_id, count=10)
    assert "More than 90 %" in web.client.get("/usage").text


def test_an_unlimited_plan_has_no_meter(web: Web) -> None:
    web.sign_in(web.user(Tier.ENTERPRISE))
    assert "no limit" in web.client.get("/usage").text


def test_tokens_are_shown_once_and_revoked(web: Web) -> None:
    web.sign_in(web.user())
    made = web.post("/tokens", page="/tokens", name="CI <b>", may_write="true").text
    secret = re.search(r"fl_[\w-]{40,}", made)
    assert secret
    listed = web.client.get("/tokens").text
    assert secret[0] not in listed
    assert "CI &lt;b&gt;" in listed
    path = re.search(r'action="(/tokens/[^"]+/revoke)"', listed)
    assert path
    assert web.post(path[1], page="/tokens").status_code == 303
    assert "no tokens" in web.client.get("/tokens").text


def test_history_is_for_people_who_signed_in(web: Web) -> None:
    for path in ("/history", "/tokens"):
        refused = web.client.get(path)
        assert (refused.status_code, refused.mimetype) == (401, "text/html")
    web.sign_in(web.user())
    page = web.post("/analyses", repository="acme/shop").headers["Location"]
    assert page in web.client.get("/history").text
    assert page in web.client.get("/").text


def test_local_repositories_are_offered_where_there_are_any(make_web: Callable[..., Web], tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    page = make_web(local_repos_root=tmp_path).client.get("/").text
    assert "local:shop" in page
    assert "local:notes" not in page
    assert "local:" not in make_web().client.get("/").text


def test_all_local_repositories_are_offered_to_who_is_signed_in_and_a_few_to_visitors(
    make_web: Callable[..., Web], tmp_path: Path
) -> None:
    names = [f"repository-{number:02}" for number in range(12)]
    for name in names:
        (tmp_path / name / ".git").mkdir(parents=True)
    web = make_web(local_repos_root=tmp_path)
    links = re.compile(r'href="/\?repository=local:([^"]+)"')
    assert links.findall(web.client.get("/").text) == names[:5]
    web.sign_in(web.user())
    page = web.client.get("/").text
    assert links.findall(page) == names
    assert "7 more repositories on this machine" in page


def test_the_api_page_lists_every_call_and_every_problem(web: Web) -> None:
    page = web.client.get("/docs/api").text
    for path in web.client.get("/api/v1/openapi.json").json["paths"]:
        assert path in page
    assert 'id="problem-quota-exceeded"' in page
    assert web.client.get("/problems/quota-exceeded").headers["Location"] == "/docs/api#problem-quota-exceeded"


@pytest.mark.parametrize("path", ["/nothing", "/analyses/x", "/static/nothing.css"])
def test_a_missing_page_is_a_page(web: Web, path: str) -> None:
    answer = web.client.get(path)
    assert (answer.status_code, answer.mimetype) == (404, "text/html")
    assert "There is nothing at this address" in answer.text
