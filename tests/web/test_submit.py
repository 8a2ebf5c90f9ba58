"""POST /analyses: what is accepted, what is refused, and how."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from service_harness.application import Web, commit_of
from sqlalchemy import text


def test_an_analysis_is_accepted_with_its_address(web: Web) -> None:
    answer = web.submit("shop", web.token())
    job = answer.json
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/api/v1/analyses/{job['id']}" == job["links"]["self"]
    assert (job["status"], job["queue"], job["tier"], job["trigger"]) == ("queued", "analysis_default", "free", "user")
    assert job["repository"]["url"] == "https://github.com/acme/shop"
    assert job["commit"] == commit_of("shop")
    assert job["wait"]["reason"] == "starting"


def test_anybody_may_submit_where_the_operator_allows_it(web: Web) -> None:
    assert web.submit().json["trigger"] == "anonymous"


def test_nobody_may_submit_without_a_token_where_the_operator_forbids_it(make_web: Callable[..., Web]) -> None:
    web = make_web(allow_anonymous=False)
    refused = web.submit()
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, 'Bearer realm="fairlane"')
    assert web.submit("shop", web.token()).status_code == 202


def test_a_second_request_joins_the_job_under_way(web: Web) -> None:
    first, second = web.submit("shop", web.token()), web.submit("SHOP", web.token(), commit=commit_of("shop"))
    assert (second.status_code, second.json["id"]) == (202, first.json["id"])


def test_a_commit_analysed_before_is_answered_with_200_and_not_billed(web: Web) -> None:
    job_id = web.submit("shop", web.token()).json["id"]
    web.completed(job_id)
    second = web.token()
    answer = web.submit("shop", second)
    assert (answer.status_code, answer.json["id"], answer.json["status"]) == (200, job_id, "completed")
    assert web.client.get("/api/v1/usage", headers=second).json["analysis"]["used"] == 0


def test_a_failed_commit_starts_again_only_on_retry(web: Web) -> None:
    headers = web.token()
    job_id = web.submit("shop", headers).json["id"]
    web.failed(job_id)
    again = web.submit("shop", headers)
    assert (again.status_code, again.json["id"], again.json["error"]["code"]) == (200, job_id, "too_large")
    retried = web.submit("shop", headers, retry=True)
    assert (retried.status_code, retried.json["status"]) == (202, "queued")
    assert retried.json["id"] != job_id


HOSTILE: list[tuple[str, bytes | str, str, int]] = [
    ("malformed", b'{"repository": ', "application/json", 400),
    ("empty", b"", "application/json", 400),
    ("not UTF-8", b'{"repository": "\xff"}', "application/json", 400),
    ("NaN", b'{"repository": "a/b", "retry": NaN}', "application/json", 400),
    ("nested", b"[" * 200_000, "application/json", 400),
    ("null", b"null", "application/json", 422),
    ("array", b"[]", "application/json", 422),
    ("string", b'"acme/shop"', "application/json", 422),
    ("no repository", b"{}", "application/json", 422),
    ("number for text", b'{"repository": 5}', "application/json", 422),
    ("text for boolean", b'{"repository": "a/b", "retry": "yes"}', "application/json", 422),
    ("unknown member", b'{"repository": "a/b", "~/x": 1}', "application/json", 422),
    ("empty repository", b'{"repository": ""}', "application/json", 422),
    ("control character", b'{"repository": "a/b\\u0000"}', "application/json", 422),
    ("lone surrogate", b'{"repository": "a/\\ud800"}', "application/json", 422),
    ("long", b'{"repository": "' + b"a" * 600 + b'/b"}', "application/json", 422),
    ("option for Git", b'{"repository": "--upload-pack=x/y"}', "application/json", 422),
    ("other scheme", b'{"repository": "file:///etc/passwd"}', "application/json", 422),
    ("password in the URL", b'{"repository": "https://u:p@github.com/a/b"}', "application/json", 422),
    ("strange host", b'{"repository": "https://localhost/a/b"}', "application/json", 422),
    ("ref with an option", b'{"repository": "a/b", "ref": "--exec=x"}', "application/json", 422),
    ("short commit", b'{"repository": "a/b", "commit": "abc"}', "application/json", 422),
    ("NUL in the ref", b'{"repository": "a/b", "ref": "x\\u0000"}', "application/json", 422),
    ("local without a root", b'{"repository": "local:shop"}', "application/json", 422),
    ("form", "repository=a/b", "application/x-www-form-urlencoded", 415),
    ("text", b'{"repository": "a/b"}', "text/plain", 415),
    ("too long", b'{"repository": "' + b"a" * 1_100_000 + b'"}', "application/json", 413),
]


def test_hostile_bodies_are_refused_with_a_problem_that_says_why(web: Web) -> None:
    headers = web.token()
    for name, body, media_type, status in HOSTILE:
        answer = web.client.post("/api/v1/analyses", data=body, content_type=media_type, headers=headers)
        assert answer.status_code == status, (name, answer.text)
        assert answer.content_type == "application/problem+json", name
        assert {"type", "title", "status", "detail", "request_id"} <= answer.json.keys(), name
        assert answer.json["request_id"] == answer.headers["X-Request-Id"]
        if status == 422:
            assert all(row["detail"] and len(row["pointer"]) <= 200 for row in answer.json["errors"]), name
    with web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM kombu_message")).scalar_one() == 0


def test_pointers_name_the_member_that_is_wrong(web: Web) -> None:
    answer = web.client.post("/api/v1/analyses", json={"repository": "a/b", "retry": 1, "~/x": 2}, headers=web.token())
    assert {row["pointer"] for row in answer.json["errors"]} == {"/retry", "/~0~1x"}


def test_what_does_not_exist_is_404(web: Web) -> None:
    missing = web.submit("missing")
    assert (missing.status_code, missing.json["type"]) == (404, "/problems/repository-not-found")
    assert web.submit("shop", ref="missing").json["type"] == "/problems/commit-not-found"


def test_a_spent_quota_is_402_with_the_numbers(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 1 WHERE tier = 'free'"))
    headers = web.token()
    assert web.submit("one", headers).status_code == 202
    refused = web.submit("two", headers)
    assert refused.status_code == 402
    assert {name: refused.json[name] for name in ("type", "used", "reserved", "limit")} == {
        "type": "/problems/quota-exceeded", "used": 0, "reserved": 1, "limit": 1,
    }  # fmt: skip
    assert refused.json["resets_at"]


def test_a_quota_that_jobs_under_way_hold_says_what_to_do_and_not_to_wait_for_a_month(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 1 WHERE tier = 'free'"))
    headers = web.token()
    first = web.submit("one", headers).json["id"]
    held = web.submit("two", headers).json
    assert "cancel one" in held["detail"]
    assert "next period" not in held["detail"]
    web.completed(first)
    used = web.submit("two", headers).json
    assert "next period" in used["detail"]
    assert "cancel" not in used["detail"]


def test_a_git_host_that_does_not_answer_is_an_error_of_its_own(web: Web) -> None:
    refused = web.submit("unreachable", web.token())
    assert (refused.status_code, refused.json["type"]) == (503, "/problems/git-host-unreachable")
    assert "github.com" in refused.json["detail"]
    assert "database" not in refused.json["title"] + refused.json["detail"]
    assert refused.headers["Retry-After"] == "30"


def test_too_many_writes_are_429_with_a_time_to_wait(make_web: Callable[..., Web]) -> None:
    web = make_web(rate_limit_per_minute=2)
    headers = web.token()
    assert [web.submit(f"r{n}", headers).status_code for n in range(3)] == [202, 202, 429]
    refused = web.submit("r4", headers)
    assert 1 <= int(refused.headers["Retry-After"]) <= 30
    assert web.client.get("/api/v1/usage", headers=headers).status_code == 200
    assert web.submit("r5", web.token()).status_code == 202


def test_anonymous_writes_are_limited_by_address(make_web: Callable[..., Web]) -> None:
    web = make_web(rate_limit_per_minute=1)
    assert [web.submit(f"r{n}").status_code for n in range(2)] == [202, 429]
    other = {"REMOTE_ADDR": "203.0.113.9"}
    body = {"repository": "acme/r3"}
    assert web.client.post("/api/v1/analyses", json=body, environ_overrides=other).status_code == 202
    # the header of a stranger gives nobody a new address
    assert web.submit("r4", {"X-Forwarded-For": "198.51.100.7"}).status_code == 429


def test_a_proxy_may_tell_the_address_where_it_is_trusted(make_web: Callable[..., Web]) -> None:
    web = make_web(rate_limit_per_minute=1, trust_proxy=True)
    assert [web.submit(f"r{n}", {"X-Forwarded-For": f"198.51.100.{n}"}).status_code for n in range(2)] == [202, 202]


def test_a_key_replays_the_stored_answer(web: Web) -> None:
    headers = web.token() | {"Idempotency-Key": "k1"}
    first, second = web.submit("shop", headers), web.submit("shop", headers)
    assert (second.status_code, second.json) == (first.status_code, first.json)
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert second.headers["Location"] == first.headers["Location"]


def test_a_key_with_another_body_is_422(web: Web) -> None:
    headers = web.token() | {"Idempotency-Key": "k1"}
    web.submit("shop", headers)
    assert web.submit("other", headers).json["type"] == "/problems/idempotency-mismatch"


def test_a_key_belongs_to_its_account(web: Web) -> None:
    key = {"Idempotency-Key": "k1"}
    assert web.submit("one", web.token() | key).status_code == 202
    assert web.submit("two", web.token() | key).status_code == 202


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_a_key_of_no_or_too_great_a_length_is_422(web: Web, key: str) -> None:
    refused = web.submit("shop", web.token() | {"Idempotency-Key": key})
    assert (refused.status_code, refused.json["errors"][0]["pointer"]) == (422, "/Idempotency-Key")


def test_a_key_of_255_characters_is_taken(web: Web) -> None:
    assert web.submit("shop", web.token() | {"Idempotency-Key": "k" * 255}).status_code == 202


def test_parallel_twins_make_one_job(web: Web) -> None:
    headers = web.token() | {"Idempotency-Key": "twin"}
    start, answers = threading.Barrier(6), []

    def ask() -> None:
        client = web.app.test_client()
        start.wait()
        answers.append(client.post("/api/v1/analyses", json={"repository": "acme/shop"}, headers=headers))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} <= {202, 409}
    accepted = {answer.json["id"] for answer in answers if answer.status_code == 202}
    assert len(accepted) == 1
    for answer in answers:
        if answer.status_code == 409:
            assert answer.json["type"] == "/problems/idempotency-in-flight"
            assert answer.headers["Retry-After"] == "1"
    with web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM quota_reservations")).scalar_one() == 1
