"""Tokens, scopes, usage, history, batch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from app.services import accounts
from tests.web.conftest import Web


@pytest.mark.parametrize("header", ["Bearer fl_unknown", "Bearer", "Basic dTpw", "Bearer x", "bearer fl_\xff", ""])
def test_a_bad_token_is_401_even_where_none_is_needed(web: Web, header: str) -> None:
    for path in ("/api/v1/usage", "/api/v1/analyses/6f0bb0a0-7b0e-4d8e-9b7e-3f0d6f6f2d11"):
        answer = web.client.get(path, headers={"Authorization": header})
        assert (answer.status_code, answer.json["type"]) == (401, "/problems/unauthenticated")


def test_a_revoked_or_expired_token_is_401(web: Web) -> None:
    user = web.user()
    now = datetime.now(UTC)
    old = accounts.add_token(web.uow, user.user_id, expires_at=now - timedelta(seconds=1), now=now)
    revoked = accounts.add_token(web.uow, user.user_id, now=now)
    accounts.revoke_token(web.uow, user.user_id, revoked.token_id, now=now)
    for token in (old, revoked):
        assert web.client.get("/api/v1/me", headers={"Authorization": f"Bearer {token.secret}"}).status_code == 401


def test_scopes_bound_what_a_token_may_do(web: Web) -> None:
    user = web.user().user_id
    reader, writer = web.token(user, "read"), web.token(user, "write")
    assert web.submit("shop", reader).status_code == 403
    assert web.client.get("/api/v1/usage", headers=writer).status_code == 403
    assert web.client.get("/api/v1/usage", headers=reader).status_code == 200
    assert web.submit("shop", writer).status_code == 202
    assert web.client.post("/api/v1/quota/check", json={}, headers=reader).status_code == 200


def test_me_needs_a_person(web: Web) -> None:
    for path in ("/api/v1/me", "/api/v1/me/history", "/api/v1/me/tokens"):
        assert web.client.get(path).status_code == 401
    user = web.user()
    me = web.client.get("/api/v1/me", headers=web.token(user.user_id)).json
    assert (me["email"], me["tier"], me["scopes"]) == (user.email, "free", ["read", "write"])


def test_a_token_is_shown_once_listed_and_revoked(web: Web) -> None:
    headers = web.token()
    made = web.client.post("/api/v1/me/tokens", json={"name": "CI", "scopes": ["read"]}, headers=headers)
    assert (made.status_code, made.json["scopes"], made.json["token"][:3]) == (201, ["read"], "fl_")
    fresh = {"Authorization": f"Bearer {made.json['token']}"}
    listed = web.client.get("/api/v1/me/tokens", headers=fresh)
    assert {row["name"] for row in listed.json["items"]} == {"CI", ""}
    assert made.json["token"] not in listed.text
    path = f"/api/v1/me/tokens/{made.json['id']}"
    assert [web.client.delete(path, headers=headers).status_code for _ in range(2)] == [204, 404]
    assert web.client.get("/api/v1/me", headers=fresh).status_code == 401


def test_a_token_gives_no_more_than_it_may_do(web: Web) -> None:
    refused = web.client.post("/api/v1/me/tokens", json={"scopes": ["operator"]}, headers=web.token())
    assert refused.status_code == 403


def test_a_token_of_another_account_cannot_be_revoked(web: Web) -> None:
    mine = web.client.post("/api/v1/me/tokens", json={}, headers=web.token()).json["id"]
    assert web.client.delete(f"/api/v1/me/tokens/{mine}", headers=web.token()).status_code == 404


def test_usage_counts_reserved_then_used(web: Web) -> None:
    headers = web.token()
    job_id = web.submit("shop", headers).json["id"]
    held = web.client.get("/api/v1/usage", headers=headers).json["analysis"]
    assert (held["used"], held["reserved"], held["free"]) == (0, 1, 49)
    (row,) = web.client.get("/api/v1/usage/reservations", headers=headers).json["items"]
    assert (row["job_id"], row["reserved_amount"], row["event_type"]) == (job_id, 1, "analysis")
    web.completed(job_id)
    spent = web.client.get("/api/v1/usage", headers=headers).json["analysis"]
    assert (spent["used"], spent["reserved"], spent["free"]) == (1, 0, 49)


def test_a_quota_check_says_what_would_happen_and_reserves_nothing(web: Web) -> None:
    headers = web.token()
    for amount, allowed in ((50, True), (51, False)):
        answer = web.client.post("/api/v1/quota/check", json={"amount": amount}, headers=headers).json
        assert (answer["allowed"], answer["reserved"], answer["limit"]) == (allowed, 0, 50)
    assert web.client.post("/api/v1/quota/check", json={"amount": 0}, headers=headers).status_code == 422


def test_history_is_ones_own_in_pages(web: Web) -> None:
    headers = web.token()
    ids = [web.submit(f"r{n}", headers).json["id"] for n in range(3)]
    web.submit("other", web.token())
    first = web.client.get("/api/v1/me/history?limit=2", headers=headers).json
    rest = web.client.get(f"/api/v1/me/history?limit=2&cursor={first['next']}", headers=headers).json
    assert [job["id"] for job in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next"] is None


@pytest.mark.parametrize("query", ["cursor=99999999999999999999", "cursor=x", "limit=201"])
def test_a_wrong_page_is_422(web: Web, query: str) -> None:
    assert web.client.get(f"/api/v1/me/history?{query}", headers=web.token()).status_code == 422


def items(*names: str) -> dict[str, object]:
    return {"items": [{"repository": f"acme/{name}"} for name in names]}


def test_a_batch_answers_each_item(web: Web) -> None:
    body = items("b", "missing", "a", "b")
    body["items"].append({"repository": "nonsense"})  # type: ignore[attr-defined]
    answer = web.client.post("/api/v1/analyses/batch", json=body, headers=web.token())
    assert answer.status_code == 202
    rows = answer.json["items"]
    assert [(row["index"], row["status"]) for row in rows] == [(0, 202), (1, 404), (2, 202), (3, 202), (4, 422)]
    assert rows[0]["job"]["id"] == rows[3]["job"]["id"] != rows[2]["job"]["id"]
    assert rows[1]["problem"]["type"] == "/problems/repository-not-found"


def test_a_batch_goes_as_far_as_the_quota(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 2 WHERE tier = 'free'"))
    headers = web.token()
    rows = web.client.post("/api/v1/analyses/batch", json=items("a", "b", "c"), headers=headers).json["items"]
    assert sorted(row["status"] for row in rows) == [202, 202, 402]
    assert web.client.get("/api/v1/usage", headers=headers).json["analysis"]["reserved"] == 2


def test_an_atomic_batch_takes_all_or_none(web: Web) -> None:
    headers = web.token()
    with web.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = 2 WHERE tier = 'free'"))
    for names, status in ((("a", "b", "c"), 402), (("a", "missing"), 404)):
        answer = web.client.post("/api/v1/analyses/batch", json=items(*names) | {"atomic": True}, headers=headers)
        assert answer.status_code == status
        assert answer.json["errors"][0]["pointer"].startswith("/items/")
        assert web.client.get("/api/v1/usage", headers=headers).json["analysis"]["reserved"] == 0
    with web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM kombu_message")).scalar_one() == 0
    done = web.client.post("/api/v1/analyses/batch", json=items("a", "b") | {"atomic": True}, headers=headers)
    assert done.status_code == 202


def test_a_batch_with_a_key_is_answered_once_and_replayed(web: Web) -> None:
    headers = web.token() | {"Idempotency-Key": "batch-1"}
    first = web.client.post("/api/v1/analyses/batch", json=items("a", "missing"), headers=headers)
    again = web.client.post("/api/v1/analyses/batch", json=items("a", "missing"), headers=headers)
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert web.client.get("/api/v1/usage", headers=headers).json["analysis"]["reserved"] == 1
    other = web.client.post("/api/v1/analyses/batch", json=items("b"), headers=headers)
    assert other.status_code == 422
    assert other.json["type"] == "/problems/idempotency-mismatch"


def test_an_atomic_batch_that_was_refused_leaves_its_key_free(web: Web) -> None:
    headers = web.token() | {"Idempotency-Key": "batch-1"}
    body = items("a", "missing") | {"atomic": True}
    assert web.client.post("/api/v1/analyses/batch", json=body, headers=headers).status_code == 404
    with web.uow.begin() as tx:
        assert tx.run(text("SELECT count(*) FROM idempotency_keys")).scalar_one() == 0


def test_a_batch_has_between_1_and_100_items(web: Web) -> None:
    for count, status in ((0, 422), (101, 422)):
        body = items(*(f"r{n}" for n in range(count)))
        assert web.client.post("/api/v1/analyses/batch", json=body, headers=web.token()).status_code == status
