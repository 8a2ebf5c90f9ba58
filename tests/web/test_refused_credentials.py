"""Credentials that are refused, and forms that anybody may send, count against the client's address."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from service_harness.application import Web, csrf

from app.services.accounts import tokens
from app.services.operations import read_only
from app.web.limits.read_costs import READS
from tests.tiers import few
from tests.web.transactions import transactions

LIMIT = 5
UNKNOWN = {"Authorization": "Bearer fl_nobodys"}


@pytest.fixture
def web(make_web: Callable[..., Web], monkeypatch: pytest.MonkeyPatch) -> Web:
    monkeypatch.setattr(read_only, "SECONDS", 600.0)
    web = make_web(read_limit_per_minute=LIMIT, trust_proxy=True)
    web.app.extensions[READS].buckets.clock = lambda: 0.0
    read_only._known.pop(web.uow.engine, None)
    return web


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/v1/me"), ("POST", "/api/v1/analyses"), ("GET", "/metrics")])
@pytest.mark.parametrize("header", [UNKNOWN["Authorization"], "Bearer", "Basic YTpi", "", "Bearer fl_\xe9"])
def test_refused_credentials_are_counted_and_then_refused_without_a_look_up(
    web: Web, method: str, path: str, header: str
) -> None:
    def ask(address: str) -> int:
        headers = {"Authorization": header, "X-Forwarded-For": address}
        return web.client.open(path, method=method, headers=headers, json={}).status_code

    assert [ask("192.0.2.1") for _ in range(LIMIT + 3)] == [401] * LIMIT + [429] * 3
    with transactions(web) as asked:
        assert ask("192.0.2.1") == 429
    assert asked == []
    assert ask("192.0.2.2") == 401


def test_a_refused_client_is_told_when_to_come_back(web: Web) -> None:
    for _ in range(LIMIT):
        web.client.get("/api/v1/me", headers=UNKNOWN)
    refused = web.client.get("/api/v1/me", headers=UNKNOWN)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "12")
    assert refused.headers["RateLimit"] == '"reads";r=0;t=12'


def test_the_reads_of_visitors_leave_tokens_of_their_address_alone(web: Web) -> None:
    token = web.token()
    assert [web.client.get("/usage").status_code for _ in range(LIMIT + 2)][-1] == 429
    assert web.client.get("/api/v1/me", headers=token).status_code == 200


def test_the_reads_of_a_known_token_take_nothing_from_its_address(web: Web) -> None:
    token = web.token()
    answers = [web.client.get("/api/v1/me", headers=token).status_code for _ in range(LIMIT + 1)]
    assert answers == [200] * LIMIT + [429]
    assert web.client.get("/api/v1/me", headers=UNKNOWN).status_code == 401


def test_refused_credentials_stop_no_token_of_their_address_that_was_good_before(web: Web) -> None:
    user = web.user()
    token, unused = web.token(user.user_id), web.token(user.user_id)
    assert web.client.get("/api/v1/me", headers=token).status_code == 200
    assert [web.client.get("/api/v1/me", headers=UNKNOWN).status_code for _ in range(LIMIT + 1)][-1] == 429
    assert web.client.get("/api/v1/me", headers=token).status_code == 200
    assert web.client.get("/api/v1/me", headers=unused).status_code == 429


def test_a_token_that_has_ended_counts_with_the_refused_ones(web: Web) -> None:
    user = web.user()
    token = web.token(user.user_id)
    assert web.client.get("/api/v1/me", headers=token).status_code == 200
    tokens.revoke_token(web.uow, user.user_id, tokens.tokens_of(web.uow, user.user_id)[0].id, now=web.uow.now())
    answers = [web.client.get("/api/v1/me", headers=token).status_code for _ in range(LIMIT + 2)]
    assert answers == [401] * LIMIT + [429] * 2


@pytest.mark.parametrize(
    "path", few(3, ["/sign-in", "/reset", "/language", "/sign-in/password", "/sign-in/passkey", "/forgot", "/sign-out"])
)
def test_forms_that_anybody_may_send_count_as_reads(web: Web, path: str) -> None:
    page = web.client.get("/sign-in")
    with web.client.session_transaction() as kept:
        cookie = dict(kept)
    answers = []
    for _ in range(LIMIT):
        with web.client.session_transaction() as kept:
            kept.update(cookie)  # a sign-out ends it
        answers.append(web.client.post(path, data={"csrf_token": csrf(page), "token": "x"}).status_code)
    assert answers[-1] == 429
    assert 429 not in answers[:-1]
