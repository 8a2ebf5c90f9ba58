"""The first time an address is verified, everything goes that an earlier person could have left in the account."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from service_harness.application import Web
from sqlalchemy import text

from app.domain.webhooks import WebhookFields
from app.errors import Unauthenticated
from app.services.accounts import accounts, github, password_resets, passwords, sessions, tokens
from app.services.webhooks import webhooks
from app.services.webhooks.sealing import Keyring
from app.services.webhooks.webhooks import Where
from app.store.accounts import open_sessions as store
from app.store.accounts.personal_data import REACHES, WAYS_IN
from tests.tiers import few
from tests.web.authenticators import Authenticator
from tests.web.test_passkeys import register
from tests.web.test_passkeys import sign_in as sign_in_by_passkey
from tests.web.test_password_resets import NEW, path_in, printed, reset, rows
from tests.web.test_passwords import EMAIL, PASSWORD, send

#: Rows of a user, by table; webhook_deliveries and spec_shares name the user by another row.
MINE = {
    "spec_shares": "document_id IN (SELECT id FROM spec_documents WHERE user_id = :user)",
    "webhook_deliveries": "webhook_id IN (SELECT id FROM webhooks WHERE user_id = :user)",
}


@pytest.fixture
def web(make_web: Callable[..., Web]) -> Web:
    return make_web(sign_up="open")


def now() -> datetime:
    return datetime.now(UTC)


def left(web: Web, user: UUID) -> dict[str, int]:
    """How many rows of the user each table has, of those that let somebody in or reach out."""
    with web.uow.begin() as tx:
        counts = {
            table: tx.run(
                text(f"SELECT count(*) FROM {table} WHERE {MINE.get(table, 'user_id = :user')}"), user=user
            ).scalar_one()
            for table in (*WAYS_IN, *REACHES)
        }
    return {table: count for table, count in counts.items() if count}


@pytest.fixture
def key() -> Authenticator:
    return Authenticator()


@pytest.fixture
def user(web: Web, key: Authenticator) -> UUID:
    """Somebody signed up with the address of another person, and left one of everything."""
    send(web, "/sign-up")
    assert register(web, key).status_code == 303
    account = accounts.find_person(web.uow, EMAIL)
    github.link(web.uow, account, github.Identity(7, "eve", None), now=now())
    token = web.token(account.user_id)
    hook = web.client.post("/api/v1/me/webhooks", json={"url": "https://evil.example/"}, headers=token).json
    assert web.client.post(f"/api/v1/me/webhooks/{hook['id']}/test", headers=token).status_code == 202
    job = web.submit("shop", {**token, "Idempotency-Key": "the-key"}).json["id"]
    web.completed(job)
    spec = web.client.post("/api/v1/specs", json={"analysis_id": job}, headers=token).json["id"]
    web.written(spec)
    assert web.client.post(f"/api/v1/specs/{spec}/share", headers=token).status_code in {200, 201}
    sessions.sign_in_link(web.uow, account.user_id, actor="cli:test", now=now())
    password_resets.ask_to_verify(web.uow, account, now=now())
    assert left(web, account.user_id).keys() == {*WAYS_IN, *REACHES}
    web.post("/sign-out")
    return account.user_id


def by_printed_reset(web: Web, _: UUID) -> None:
    assert reset(web, path_in(printed(web))).status_code == 303


def by_operators_reset(web: Web, _: UUID) -> None:
    secret = password_resets.hand_out(web.uow, accounts.find_person(web.uow, EMAIL), actor="cli:test", now=now())
    assert reset(web, f"/reset?token={secret}").status_code == 303


def by_mailed_reset(web: Web, _: UUID) -> None:
    letter = password_resets.ask(web.uow, EMAIL, mailed=True, now=now())
    assert letter
    assert reset(web, f"/reset?token={letter.secret}").status_code == 303


def by_operators_sign_in_link(web: Web, user: UUID) -> None:
    secret = sessions.sign_in_link(web.uow, user, actor="cli:test", now=now())
    assert web.post("/sign-in", f"/sign-in?token={secret}", token=secret).status_code == 303


def by_operators_password(web: Web, _: UUID) -> None:
    passwords.replace(web.uow, EMAIL, NEW, actor="cli", now=now())
    assert send(web, "/sign-in/password", password=NEW).status_code == 303


WAYS: dict[str, tuple[Callable[[Web, UUID], None], dict[str, int]]] = {
    "a reset from the log": (by_printed_reset, {"passwords": 1, "sessions": 1}),
    "a reset by an operator's link": (by_operators_reset, {"passwords": 1, "sessions": 1}),
    "a mailed reset": (by_mailed_reset, {"passwords": 1, "sessions": 1}),
    "an operator's sign-in link": (by_operators_sign_in_link, {"sessions": 1}),
    "a password from the operator": (by_operators_password, {"passwords": 1, "sessions": 1}),
}


@pytest.mark.parametrize("way", few(2, WAYS))
def test_the_owner_of_the_address_finds_nothing_of_whoever_was_there_before(
    web: Web, key: Authenticator, user: UUID, way: str
) -> None:
    verify, expected = WAYS[way]
    verify(web, user)
    assert left(web, user) == expected
    assert "was confirmed" in web.client.get("/account").text
    web.post("/sign-out")
    assert sign_in_by_passkey(web, key).status_code == 401
    assert send(web, "/sign-in/password", password=PASSWORD).status_code == 401
    (entry,) = rows(web, "SELECT subject, facts FROM audit_log WHERE action = 'user.email'")
    assert entry.subject == str(user)


@pytest.mark.parametrize("way", few(1, WAYS))
def test_what_the_verified_owner_adds_stays_at_the_next_time(web: Web, user: UUID, way: str) -> None:
    by_operators_sign_in_link(web, user)
    mine = Authenticator()
    assert register(web, mine).status_code == 303
    token = web.token(user)
    assert web.client.post("/api/v1/me/webhooks", json={"url": "https://a.example/"}, headers=token).status_code == 201
    web.post("/sign-out")
    WAYS[way][0](web, user)
    assert left(web, user).keys() >= {"passkeys", "api_tokens", "webhooks"}
    web.post("/sign-out")
    assert sign_in_by_passkey(web, mine).status_code == 303


def verify(web: Web) -> Any:
    letter = password_resets.ask_to_verify(web.uow, accounts.find_person(web.uow, EMAIL), now=now())
    assert letter
    return web.post("/verify", f"/verify?token={letter.secret}", token=letter.secret)


def test_whoever_confirms_the_address_keeps_only_the_way_they_came_in_by(
    web: Web, key: Authenticator, user: UUID
) -> None:
    send(web, "/sign-in/password")
    before = web.client.get_cookie("fairlane")
    assert verify(web).status_code == 303
    assert left(web, user) == {"passwords": 1, "sessions": 1}
    assert "was confirmed" in web.client.get("/account").text
    assert before
    web.client.set_cookie("fairlane", before.value)
    assert EMAIL not in web.client.get("/").text
    assert sign_in_by_passkey(web, key).status_code == 401


def test_a_person_who_confirms_with_a_passkey_keeps_that_one(web: Web, key: Authenticator, user: UUID) -> None:
    send(web, "/sign-in/password")
    other = Authenticator()
    register(web, other)
    web.post("/sign-out")
    sign_in_by_passkey(web, key)
    assert verify(web).status_code == 303
    assert left(web, user) == {"passkeys": 1, "sessions": 1}
    web.post("/sign-out")
    assert sign_in_by_passkey(web, other).status_code == 401
    assert sign_in_by_passkey(web, key).status_code == 303


def test_an_account_that_an_operator_made_loses_nothing_at_the_first_sign_in(web: Web) -> None:
    account = web.user()
    token = web.token(account.user_id)
    web.sign_in(account)
    assert web.client.get("/api/v1/me", headers=token).status_code == 200
    assert "was confirmed" in web.client.get("/account").text


def test_a_request_that_was_under_way_adds_nothing_after_the_verification(web: Web, user: UUID) -> None:
    """It was admitted before, and then waited for the lock on the user."""
    account, own = accounts.find_person(web.uow, EMAIL), "a session that was open"
    with web.uow.begin() as tx:
        store.add_session(tx, user, own, by="password", now=now(), expires_at=now() + timedelta(days=1))
    token = tokens.add_token(web.uow, user, now=now()).secret
    by_operators_sign_in_link(web, user)
    where, keyring = Where(), Keyring.of(["a phrase of this test"])
    adding: list[Callable[[], object]] = [
        lambda: tokens.add_token(web.uow, user, session=own, now=now()),
        lambda: tokens.add_token(web.uow, user, made_by=token, now=now()),
        lambda: github.link(web.uow, account, github.Identity(8, "eve", None), session=own, now=now()),
        lambda: webhooks.add(
            web.uow, user, WebhookFields("https://a.example/", "", []), where, keyring, by=own, now=now()
        ),
        lambda: webhooks.add(
            web.uow, user, WebhookFields("https://a.example/", "", []), where, keyring, by=token, now=now()
        ),
    ]
    for add in adding:
        with pytest.raises(Unauthenticated):
            add()
    assert left(web, user) == {"sessions": 1}


@pytest.mark.parametrize("page", ["/reset?token=x", "/sign-in?token=x", "/verify?token=x"])
def test_each_page_of_a_link_that_verifies_says_before_the_button_what_is_removed(web: Web, page: str) -> None:
    send(web, "/sign-up")
    before, _, after = web.client.get(page).text.partition('<button class="primary"')
    assert "tokens, webhooks, shared links" in before
    assert after
