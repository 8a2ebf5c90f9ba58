"""The owner of an account is told by mail of what was added to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import structlog
from pydantic import SecretStr
from service_harness.application import Web

from app.services.accounts import accounts
from app.web.accounts import notices
from tests.web.authenticators import Authenticator
from tests.web.github_double import CLIENT, github
from tests.web.mail_double import MailServer, mail_server
from tests.web.test_github import come_back, lead
from tests.web.test_passkeys import register
from tests.web.test_password_resets import NEW, PUBLIC, reset, rows, words
from tests.web.test_passwords import EMAIL, PASSWORD, send


@pytest.fixture
def post() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found
    for thread in threading.enumerate():
        if thread.name == "mail":
            thread.join(30)


@pytest.fixture
def web(make_web: Callable[..., Web], post: MailServer) -> Web:
    """Somebody with a verified address is signed in."""
    web = make_web(sign_up="open", smtp_url=SecretStr(post.url), public_url=PUBLIC)
    send(web, "/sign-up")
    post.next_mail()
    rows(web, "UPDATE users SET email_verified_at = now() WHERE kind = 'person' RETURNING 1")
    return web


def told(post: MailServer) -> str:
    mail = post.next_mail()
    assert (mail["To"], mail["Subject"]) == (EMAIL, notices.SUBJECT)
    said = words(mail)
    assert f"{PUBLIC}/account" in said
    assert notices.OTHERWISE in said
    return said


def test_each_addition_and_a_new_password_are_told(web: Web, post: MailServer) -> None:
    register(web, Authenticator())
    assert notices.NEW_PASSKEY in told(post)
    assert web.post("/tokens", "/tokens", name="laptop").status_code == 200
    assert notices.NEW_TOKEN in told(post)
    assert web.post("/account/webhooks", "/account/webhooks", url="https://a.example/").status_code == 200
    assert notices.NEW_WEBHOOK in told(post)
    assert web.post("/account/password", "/account", current=PASSWORD, password=NEW).status_code == 303
    assert notices.PASSWORD_CHANGE in told(post)


def test_what_a_program_adds_is_told_too(web: Web, post: MailServer) -> None:
    token = web.token(accounts.find_person(web.uow, EMAIL).user_id)
    assert web.client.post("/api/v1/me/tokens", json={"scopes": ["read"]}, headers=token).status_code == 201
    assert notices.NEW_TOKEN in told(post)
    assert web.client.post("/api/v1/me/webhooks", json={"url": "https://a.example/"}, headers=token).status_code == 201
    assert notices.NEW_WEBHOOK in told(post)


def test_a_password_that_a_link_has_set_is_told(web: Web, post: MailServer) -> None:
    web.post("/forgot", "/forgot", email=EMAIL)
    path = words(post.next_mail()).partition(PUBLIC)[2].split()[0]
    assert reset(web, path).status_code == 303
    assert notices.PASSWORD_CHANGE in told(post)


def test_a_link_to_github_is_told(make_web: Callable[..., Web], post: MailServer) -> None:
    with github() as double:
        web = make_web(
            sign_up="open", smtp_url=SecretStr(post.url), public_url=PUBLIC, github_oauth_url=double.url,
            github_client_id=CLIENT["client_id"], github_client_secret=SecretStr(CLIENT["client_secret"]),
        )  # fmt: skip
        send(web, "/sign-up")
        post.next_mail()
        rows(web, "UPDATE users SET email_verified_at = now() WHERE kind = 'person' RETURNING 1")
        assert come_back(web, **double.authorise(lead(web, "/account/github", "/account"))).status_code == 303
    assert notices.GITHUB_LINK in told(post)


def test_no_stranger_fills_a_mailbox_with_an_account_that_they_made(web: Web, post: MailServer) -> None:
    rows(web, "UPDATE users SET email_verified_at = NULL RETURNING 1")
    token = web.token(accounts.find_person(web.uow, EMAIL).user_id)
    for _ in range(3):
        assert web.client.post("/api/v1/me/tokens", json={"scopes": ["read"]}, headers=token).status_code == 201
    rows(web, "UPDATE users SET email_verified_at = now() WHERE kind = 'person' RETURNING 1")
    register(web, Authenticator())
    assert notices.NEW_PASSKEY in told(post)  # the first mail of all


def test_where_no_mail_is_sent_the_log_is_not_filled_either(make_web: Callable[..., Web]) -> None:
    web = make_web()
    token = web.token(web.user().user_id)
    with structlog.testing.capture_logs() as lines:
        assert web.client.post("/api/v1/me/tokens", json={"scopes": ["read"]}, headers=token).status_code == 201
    assert "mail.not_sent" not in [line["event"] for line in lines]


@pytest.mark.parametrize("how", ["patch", "put", "page"])
def test_another_address_of_a_webhook_is_told_and_another_description_is_not(
    web: Web, post: MailServer, how: str
) -> None:
    token = web.token(accounts.find_person(web.uow, EMAIL).user_id)
    made = web.client.post("/api/v1/me/webhooks", json={"url": "https://a.example/"}, headers=token).json
    assert notices.NEW_WEBHOOK in told(post)
    at, page = f"/api/v1/me/webhooks/{made['id']}", f"/account/webhooks/{made['id']}"
    assert web.client.patch(at, json={"description": "mine"}, headers=token).status_code == 200  # no mail
    url = "https://b.example/"
    if how == "patch":
        assert web.client.patch(at, json={"url": url}, headers=token).status_code == 200
    elif how == "put":
        whole = {"url": url, "description": "", "events": ["analysis.completed"], "enabled": True}
        assert web.client.put(at, json=whole, headers=token).status_code == 200
    else:
        assert web.post(page, page, url=url, event="analysis.completed").status_code == 303
    assert notices.WEBHOOK_ADDRESS in told(post)


@pytest.mark.parametrize("how", ["api", "page"])
def test_another_secret_of_a_webhook_is_told(web: Web, post: MailServer, how: str) -> None:
    token = web.token(accounts.find_person(web.uow, EMAIL).user_id)
    made = web.client.post("/api/v1/me/webhooks", json={"url": "https://a.example/"}, headers=token).json
    assert notices.NEW_WEBHOOK in told(post)
    page = f"/account/webhooks/{made['id']}"
    if how == "api":
        assert web.client.post(f"/api/v1/me/webhooks/{made['id']}/secret", headers=token).status_code == 200
    else:
        assert web.post(f"{page}/secret", page).status_code == 200
    assert notices.WEBHOOK_SECRET in told(post)
