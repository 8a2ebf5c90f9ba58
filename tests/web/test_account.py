"""Tokens, scopes, usage, history, batch."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from service_harness.application import Web
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.domain.plans import Tier
from app.services.accounts import tokens


@pytest.mark.parametrize("header", ["Bearer fl_unknown", "Bearer", "Basic dTpw", "Bearer x", "bearer fl_\xff", ""])
def test_a_bad_token_is_401_even_where_none_is_needed(web: Web, header: str) -> None:
    for path in ("/api/v1/usage", "/api/v1/analyses/6f0bb0a0-7b0e-4d8e-9b7e-3f0d6f6f2d11"):
        answer = web.client.get(path, headers={"Authorization": header})
        assert (answer.status_code, answer.json["type"]) == (401, "/problems/unauthenticated")


def test_a_revoked_or_expired_token_is_401(web: Web) -> None:
    user = web.user()
    now = datetime.now(UTC)
    old = tokens.add_token(web.uow, user.user_id, expires_at=now - timedelta(seconds=1), now=now)
    revoked = tokens.add_token(web.uow, user.user_id, now=now)
    tokens.revoke_token(web.uow, user.user_id, revoked.token_id, now=now)
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


def bearer(made: TestResponse) -> dict[str, str]:
    return {"Authorization": f"Bearer {made.json['token']}"}


def make(web: Web, headers: dict[str, str], **members: str) -> TestResponse:
    return web.client.post("/api/v1/me/tokens", json=members, headers=headers)


def works(web: Web, headers: dict[str, str]) -> bool:
    return web.client.get("/api/v1/me", headers=headers).status_code == 200


def test_a_token_made_by_a_token_ends_with_it_at_the_latest(web: Web) -> None:
    soon, later = (datetime.now(UTC) + timedelta(days=days) for days in (2, 3))
    parent = make(web, web.token(), expires_at=soon.isoformat())
    refused = make(web, bearer(parent), expires_at=later.isoformat())
    assert (refused.status_code, refused.json["type"]) == (403, "/problems/forbidden")
    without = make(web, bearer(parent))
    assert datetime.fromisoformat(without.json["expires_at"]) == soon
    earlier = make(web, bearer(without), expires_at=(soon - timedelta(days=1)).isoformat())
    assert earlier.status_code == 201
    assert datetime.fromisoformat(earlier.json["expires_at"]) == soon - timedelta(days=1)
    listed = web.client.get("/api/v1/me/tokens", headers=bearer(earlier)).json["items"]
    ends = {row["id"]: row["expires_at"] for row in listed}
    assert datetime.fromisoformat(ends[without.json["id"]]) == soon


@pytest.mark.proof
def test_revoking_a_token_revokes_all_that_it_made_and_no_other(web: Web) -> None:
    root = web.token()
    parent, other = make(web, root), make(web, root)
    line = [parent]
    for _ in range(60):
        line.append(make(web, bearer(line[-1])))
    assert web.client.delete(f"/api/v1/me/tokens/{parent.json['id']}", headers=root).status_code == 204
    assert not any(works(web, bearer(made)) for made in line)
    assert works(web, root)
    assert works(web, bearer(other))
    assert {row["id"] for row in web.client.get("/api/v1/me/tokens", headers=root).json["items"]} >= {other.json["id"]}


def test_a_revocation_by_hand_cascades_too(web: Web) -> None:
    parent = make(web, web.token())
    child = make(web, bearer(parent))
    with web.uow.begin() as tx:
        tx.run(text("UPDATE api_tokens SET revoked_at = now() WHERE id = :id"), id=parent.json["id"])
    assert not works(web, bearer(child))


def test_a_token_that_is_revoked_while_it_makes_another_leaves_none(web: Web) -> None:
    for _ in range(10):
        user = web.user().user_id
        parent = make(web, web.token(user))
        start = threading.Barrier(2)

        def revoke(user: UUID = user, parent: TestResponse = parent, start: threading.Barrier = start) -> None:
            start.wait(60)
            tokens.revoke_token(web.uow, user, UUID(parent.json["id"]), now=datetime.now(UTC))

        revoking = threading.Thread(target=revoke)
        revoking.start()
        start.wait(60)
        child = make(web, bearer(parent))
        revoking.join()
        assert child.status_code in (201, 401)
        assert child.status_code == 401 or not works(web, bearer(child))


def test_an_account_has_a_bounded_number_of_living_tokens(web: Web) -> None:
    headers = web.token()
    for _ in range(tokens.MOST_TOKENS - 2):
        assert make(web, headers).status_code == 201
    last = make(web, headers)
    refused = make(web, headers)
    assert (refused.status_code, refused.json["type"]) == (409, "/problems/too-many-tokens")
    web.client.delete(f"/api/v1/me/tokens/{last.json['id']}", headers=headers)
    assert make(web, headers).status_code == 201
    with web.uow.begin() as tx:
        tx.run(text("UPDATE api_tokens SET expires_at = now() - interval '1 day' WHERE id IN"
                    " (SELECT id FROM api_tokens WHERE parent_id IS NOT NULL AND revoked_at IS NULL LIMIT 1)"))  # fmt: skip
    assert make(web, headers).status_code == 201


@pytest.mark.proof
def test_tokens_that_are_made_at_once_do_not_pass_the_bound(web: Web) -> None:
    headers, clients = web.token(), 6
    for _ in range(tokens.MOST_TOKENS - 3):
        assert make(web, headers).status_code == 201

    def one(_: int) -> int:
        answer = web.app.test_client().post("/api/v1/me/tokens", json={}, headers=headers)
        return answer.status_code

    with ThreadPoolExecutor(clients) as pool:
        statuses = sorted(pool.map(one, range(clients)))
    assert statuses == [201, 201, 409, 409, 409, 409]


def test_the_page_of_plans_tells_the_limits_that_hold(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.write(text("UPDATE subscription_plans SET concurrent_jobs = 7 WHERE tier = 'pro'"))
    page = web.client.get("/plans").text
    assert "7 of each service" in page
    assert "yours" not in page
    assert page.index("Free") < page.index("Pro plus") < page.index("Enterprise")
    web.sign_in(web.user(Tier.PRO))
    assert re.search(
        r"<th scope=\"row\"><span translate=\"no\">Pro</span> <small>yours</small>", web.client.get("/plans").text
    )
