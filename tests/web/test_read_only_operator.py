"""Read-only operators see what operators see, and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from service_harness.application import Web, now
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.accounts import accounts
from app.store.accounts.users import Account

READS = ("audit", "tenants", "fairness", "queues", "tiers", "workers", "dead", "failures", "schedule")
SOMEBODY = "6f0bb0a0-7b0e-4d8e-9b7e-3f0d6f6f2d11"
WRITES: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("PUT", f"users/{SOMEBODY}/tier", {"tier": "pro"}),
    ("PUT", f"users/{SOMEBODY}/limit", {"limit": 5}),
    ("PUT", "tiers/pro/limit", {"limit": 5}),
    ("PUT", "queues/analysis_default/pause", {"paused": True}),
    ("POST", "dead/1/redrive", None),
    ("DELETE", "dead/1", None),
    ("PUT", "schedule/sweep", {"enabled": True}),
    ("POST", "schedule/sweep/run", None),
)


@pytest.fixture
def reader(web: Web) -> Account:
    email = "reader@example.org"
    return accounts.add_user(web.uow, email, tier=Tier.FREE, is_read_only_operator=True, actor="test", now=now())


#: Who may read, by a token's scopes: a read-only operator, whatever the token says, and an operator's lesser token.
TOKENS: dict[str, Callable[[Web, Account], dict[str, str]]] = {
    "a read-only operator": lambda web, reader: web.token(reader.user_id, "operator:read"),
    "one whose token claims more": lambda web, reader: web.token(reader.user_id, "read", "write", "operator"),
    "an operator with a token for reading": lambda web, _: web.token(
        web.user(is_operator=True).user_id, "write", "operator:read"
    ),
}


@pytest.mark.parametrize("who", TOKENS)
def test_a_read_only_operator_reads_everything_and_changes_nothing(web: Web, reader: Account, who: str) -> None:
    headers = TOKENS[who](web, reader)
    assert {name: web.client.get(f"/api/v1/operator/{name}", headers=headers).status_code for name in READS} == (
        dict.fromkeys(READS, 200)
    )
    for method, path, body in WRITES:
        answer = web.client.open(f"/api/v1/operator/{path}", method=method, json=body, headers=headers)
        assert (answer.status_code, answer.json["type"]) == (403, "/problems/forbidden"), path
        assert "may change nothing" in answer.json["detail"]
    with web.uow.begin() as tx:
        assert (
            tx.run(
                text("SELECT count(*) FROM audit_log WHERE action NOT IN ('user.add', 'token.add', 'user.link')")
            ).scalar_one()
            == 0
        )


def test_every_write_of_operators_is_tried_above(web: Web) -> None:
    rules = {
        (method, rule.rule.removeprefix("/api/v1/operator/").split("/")[0])
        for rule in web.app.url_map.iter_rules()
        if rule.rule.startswith("/api/v1/operator/")
        for method in (rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}
    }
    assert rules == {(method, path.split("/")[0]) for method, path, _ in WRITES}


def test_the_scope_is_needed_and_gives_nothing_to_others(web: Web, reader: Account) -> None:
    for headers in (web.token(reader.user_id, "read", "write"), web.token(web.user().user_id, "operator:read")):
        assert web.client.get("/api/v1/operator/queues", headers=headers).status_code == 403


def test_a_read_only_operator_sees_no_private_job_of_others_and_cancels_none(web: Web, reader: Account) -> None:
    job = web.submit("shop", web.token()).json["id"]
    headers = web.token(reader.user_id, "read", "write", "operator:read")
    assert web.client.delete(f"/api/v1/analyses/{job}", headers=headers).status_code == 403
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    assert web.client.get(f"/api/v1/analyses/{job}", headers=headers).status_code == 404


def test_the_pages_can_be_read_and_their_forms_are_refused(web: Web, reader: Account) -> None:
    user = web.user()
    web.sign_in(reader)
    for path in ("/operator", f"/operator/users/{user.user_id}"):
        assert web.client.get(path).status_code == 200
    forms = {
        "/operator/queues/analysis_default/pause": {"paused": "true"},
        f"/operator/users/{user.user_id}/tier": {"tier": "pro"},
        f"/operator/users/{user.user_id}/limit": {"limit": "5"},
        "/operator/tiers/pro/limit": {"limit": "5"},
    }
    for path, fields in forms.items():
        answer = web.post(path, "/", **fields)
        assert answer.status_code == 403, path
        assert "may change nothing" in answer.text


def test_a_token_for_reading_is_granted_by_one_that_operates_and_not_the_other_way_round(
    web: Web, reader: Account
) -> None:
    def make(user: Account, scope: str, wanted: str) -> int:
        headers = web.token(user.user_id, "read", "write", scope)
        return web.client.post("/api/v1/me/tokens", json={"scopes": [wanted]}, headers=headers).status_code

    boss = web.user(is_operator=True)
    assert make(boss, "operator", "operator:read") == 201
    assert make(reader, "operator:read", "operator:read") == 201
    assert make(reader, "operator:read", "operator") == 403


def test_me_tells_the_role(web: Web, reader: Account) -> None:
    def told(headers: dict[str, str]) -> tuple[bool, bool]:
        me = web.client.get("/api/v1/me", headers=headers).json
        return me["is_operator"], me["is_read_only_operator"]

    boss = web.user(is_operator=True)
    assert told(web.token(reader.user_id, "read", "operator:read")) == (False, True)
    assert told(web.token(reader.user_id)) == (False, False)
    assert told(web.token(boss.user_id, "read", "operator")) == (True, False)
    assert told(web.token(boss.user_id, "read", "operator:read")) == (False, True)
    assert told(web.token()) == (False, False)


def test_a_read_only_operator_finds_the_console(web: Web, reader: Account) -> None:
    web.sign_in(reader)
    assert 'href="/operator"' in web.client.get("/").text
    web.sign_in(web.user())
    assert 'href="/operator"' not in web.client.get("/").text
