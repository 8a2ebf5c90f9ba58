"""A session adds ways in, tokens and webhooks only soon after its person has proved who they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr
from service_harness.application import Web, csrf

from app.services.accounts import accounts, confirmations
from tests.web.authenticators import PRESENT, Authenticator
from tests.web.conftest import rows
from tests.web.test_passkeys import options, register
from tests.web.test_passwords import EMAIL, PASSWORD, cookie, send

GITHUB = {"github_client_id": "an-app", "github_client_secret": SecretStr("secret")}
NEW = "another long password"


@pytest.fixture
def web(make_web: Callable[..., Web]) -> Web:
    return make_web(sign_up="open", **GITHUB)


def let_time_pass(web: Web) -> None:
    """The proof of every session is older than five minutes."""
    rows(web, "UPDATE sessions SET proved_at = proved_at - interval '5 minutes' RETURNING 1")


def webhook(web: Web) -> str:
    token = web.token(accounts.find_person(web.uow, EMAIL).user_id)
    made = web.client.post("/api/v1/me/webhooks", json={"url": "https://a.example/"}, headers=token)
    return str(made.json["id"])


#: path -> the page of its form, and what it sends
ADDING: dict[str, tuple[str, dict[str, str]]] = {
    "/tokens": ("/tokens", {"name": "laptop"}),
    "/account/webhooks": ("/account/webhooks", {"url": "https://b.example/"}),
    "/account/webhooks/{webhook}": ("/account/webhooks", {"url": "https://b.example/"}),
    "/account/webhooks/{webhook}/secret": ("/account/webhooks", {}),
    "/account/github": ("/account", {}),
}


@pytest.mark.parametrize("path", ADDING)
def test_an_older_session_adds_nothing_before_it_was_confirmed(web: Web, path: str) -> None:
    send(web, "/sign-up")
    page, fields = ADDING[path]
    path = path.format(webhook=webhook(web))
    let_time_pass(web)
    kept = "SELECT (SELECT count(*) FROM api_tokens), (SELECT json_agg(w) #>> '{}' FROM webhooks w)"
    before = rows(web, kept)
    refused = web.client.post(
        path,
        data={"csrf_token": csrf(web.client.get(page)), **fields},
        headers={"Referer": f"http://localhost{page}"},
    )
    assert (refused.status_code, refused.location) == (303, f"/account/confirm?next={page}")
    assert rows(web, kept) == before
    confirmed = web.post("/account/confirm", refused.location, current=PASSWORD)
    assert (confirmed.status_code, confirmed.location) == (303, page)
    assert web.post(path, page, **fields).status_code in {200, 303}


def test_an_older_session_adds_no_passkey_before_it_was_confirmed(web: Web) -> None:
    send(web, "/sign-up")
    let_time_pass(web)
    refused = web.post("/account/passkeys/options", "/account")
    assert refused.status_code == 403
    assert refused.json["type"] == "/problems/confirmation-needed"
    assert "data-passkey" not in web.client.get("/account").text
    web.post("/account/confirm", "/account/confirm", current=PASSWORD)
    assert register(web, Authenticator()).status_code == 303


def test_a_wrong_password_confirms_nothing_and_is_counted(web: Web) -> None:
    send(web, "/sign-up")
    let_time_pass(web)
    answers = [web.post("/account/confirm", "/account/confirm", current="wrong") for _ in range(8)]
    assert answers[0].status_code == 422
    assert "The current password is wrong." in answers[0].text
    assert 429 in {answer.status_code for answer in answers}
    assert web.post("/tokens", "/account").status_code == 303
    assert rows(web, "SELECT 1 FROM api_tokens") == []


def test_a_confirmation_makes_copies_of_the_cookie_worthless(web: Web) -> None:
    send(web, "/sign-up")
    copy = cookie(web)
    let_time_pass(web)
    assert web.post("/account/confirm", "/account/confirm", current=PASSWORD).status_code == 303
    assert EMAIL in web.client.get("/account").text
    web.client.set_cookie("fairlane", copy)
    assert web.client.get("/account").status_code == 401


def test_a_changed_password_makes_copies_of_the_cookie_worthless(web: Web) -> None:
    send(web, "/sign-up")
    copy = cookie(web)
    changed = web.post("/account/password", "/account", current=PASSWORD, password=NEW)
    assert changed.status_code == 303
    assert EMAIL in web.client.get("/account").text
    web.client.set_cookie("fairlane", copy)
    assert web.client.get("/account").status_code == 401


def confirm_by(web: Web, key: Authenticator) -> Any:
    asked = options(web, "/account/confirm/passkey")
    return web.post("/account/confirm/passkey", "/account/confirm", credential=key.get(asked))


def passkey_account(web: Web, key: Authenticator, email: str = EMAIL) -> None:
    asked = options(web, "/sign-up/passkey", email=email)
    assert web.post("/sign-up/passkey", "/sign-up", credential=key.create(asked)).status_code == 303


def test_a_passkey_of_the_account_confirms_and_another_one_does_not(web: Web) -> None:
    strangers, key = Authenticator(), Authenticator()
    passkey_account(web, strangers, "eve@example.org")
    web.post("/sign-out")
    passkey_account(web, key)
    let_time_pass(web)
    asked = options(web, "/account/confirm/passkey")
    assert (len(asked["allowCredentials"]), asked["userVerification"]) == (1, "required")
    strangers.handle = b""
    for refused in (confirm_by(web, strangers), confirm_by(web, Authenticator())):
        assert refused.status_code == 401
    key.flags = PRESENT
    assert confirm_by(web, key).status_code == 422
    assert web.post("/account/password", "/account", password=NEW).status_code == 303
    assert rows(web, "SELECT 1 FROM passwords") == []
    key.flags = Authenticator().flags
    assert confirm_by(web, key).status_code == 303
    assert web.post("/account/password", "/account", password=NEW).status_code == 303
    assert len(rows(web, "SELECT 1 FROM passwords")) == 1


def test_an_answer_for_signing_in_does_not_confirm(web: Web) -> None:
    key = Authenticator()
    passkey_account(web, key)
    other = web.app.test_client()
    page = other.get("/sign-in")
    asked = other.post("/sign-in/passkey/options", data={"csrf_token": csrf(page)})
    options(web, "/account/confirm/passkey")
    answer = key.get(json.loads(asked.text))
    assert web.post("/account/confirm/passkey", "/account/confirm", credential=answer).status_code == 422


def test_an_account_without_a_password_is_deleted_only_after_a_proof(web: Web) -> None:
    key = Authenticator()
    passkey_account(web, key)
    let_time_pass(web)
    refused = web.post("/account/delete", "/account", email=EMAIL)
    assert refused.location.startswith("/account/confirm")
    assert len(rows(web, "SELECT 1 FROM users WHERE kind = 'person'")) == 1
    confirm_by(web, key)
    assert web.post("/account/delete", "/account", email=EMAIL).location == "/"
    assert rows(web, "SELECT 1 FROM users WHERE kind = 'person'") == []


def test_an_account_with_neither_is_told_how_to_sign_in_again(web: Web) -> None:
    person = web.user()
    web.sign_in(person)
    let_time_pass(web)
    page = web.client.get("/account/confirm?next=/tokens")
    assert "Ask whoever runs this service" in page.text
    assert web.post("/account/confirm", "/account/confirm", current="x" * 12).status_code == 422
    web.sign_in(person)  # by another link
    made = web.post("/tokens", "/tokens", name="laptop")
    assert (made.status_code, "Your new token" in made.text) == (200, True)


def test_a_session_of_the_previous_release_is_confirmed_first(web: Web) -> None:
    send(web, "/sign-up")
    rows(web, "UPDATE sessions SET proved_at = NULL, proved_by = NULL RETURNING 1")
    assert web.client.get("/account").status_code == 200
    assert web.post("/tokens", "/account").location.startswith("/account/confirm")
    web.post("/account/confirm", "/account/confirm", current=PASSWORD)
    assert web.post("/tokens", "/tokens").status_code == 200


def test_a_token_goes_on_making_what_its_scope_allows(web: Web) -> None:
    send(web, "/sign-up")
    token = web.token(accounts.find_person(web.uow, EMAIL).user_id)
    let_time_pass(web)
    assert web.client.post("/api/v1/me/tokens", json={"scopes": ["read"]}, headers=token).status_code == 201
    assert web.client.post("/api/v1/me/webhooks", json={"url": "https://a.example/"}, headers=token).status_code == 201


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example", "https://evil.example/", "////evil.example", "/\\evil.example"]
)
def test_a_confirmation_leads_nowhere_else(web: Web, elsewhere: str) -> None:
    send(web, "/sign-up")
    page = f"/account/confirm?next={elsewhere}"
    assert web.post("/account/confirm", page, current=PASSWORD).location == "/"


def test_a_session_that_ended_in_the_meantime_is_not_revived(web: Web) -> None:
    send(web, "/sign-up")
    person = accounts.find_person(web.uow, EMAIL)
    for session in ("", "of nobody"):
        with pytest.raises(Exception, match="session has ended"):
            confirmations.by_password(web.uow, person.user_id, PASSWORD, session=session, now=datetime.now(UTC))


@pytest.mark.parametrize("path", ["/account/confirm", "/account/confirm/passkey", "/account/confirm/passkey/options"])
def test_no_form_confirms_without_its_csrf_token_or_for_a_stranger(web: Web, path: str) -> None:
    assert web.post(path, "/sign-in").status_code in {303, 401}
    send(web, "/sign-up")
    assert web.client.post(path, data={"current": PASSWORD}).status_code == 400


def test_a_session_ends_after_a_week_without_use(make_web: Callable[..., Web]) -> None:
    web = make_web(sign_up="open")
    send(web, "/sign-up")
    rows(web, "UPDATE sessions SET created_at = created_at - interval '6 days 23 hours' RETURNING 1")
    assert web.client.get("/account").status_code == 200
    rows(web, "UPDATE sessions SET last_used_at = last_used_at - interval '7 days' RETURNING 1")
    assert web.client.get("/account").status_code == 401
    web.client.delete_cookie("fairlane")
    send(web, "/sign-in/password")
    assert web.client.get("/account").text.count("this browser") == 1
    assert len(rows(web, "SELECT 1 FROM sessions")) == 2
    assert web.client.get("/account").text.count("Sign out the browser") == 0
