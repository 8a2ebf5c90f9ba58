"""Links by mail or in the log: a forgotten password, and a verified address."""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Callable, Iterator
from email.message import Message
from typing import Any

import pytest
import structlog
from pydantic import SecretStr
from sqlalchemy import text

from app.services.accounts import password_resets
from app.web import mails, verification
from tests.web.authenticators import Authenticator
from tests.web.conftest import Web, csrf
from tests.web.mail_double import MailServer, mail_server
from tests.web.test_passkeys import register
from tests.web.test_passkeys import sign_in as sign_in_by_passkey
from tests.web.test_passwords import EMAIL, PASSWORD, send

NEW, PUBLIC = "another long password", "http://localhost"


@pytest.fixture
def post() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found
    for thread in threading.enumerate():
        if thread.name == "mail":
            thread.join(30)


@pytest.fixture
def web(make_web: Callable[..., Web], post: MailServer) -> Web:
    web = make_web(sign_up="open", smtp_url=SecretStr(post.url), public_url=PUBLIC)
    send(web, "/sign-up")
    assert post.next_mail()["Subject"] == verification.SUBJECT
    rows(web, "DELETE FROM one_time_secrets RETURNING 1")
    post.said.clear()
    return web


def rows(web: Web, query: str) -> list[Any]:
    with web.uow.begin() as tx:
        return list(tx.run(text(query)).all())


def words(mail: Message) -> str:
    return mail.get_payload(decode=True).decode()


def path_in(written: str) -> str:
    (found,) = re.findall(rf"{PUBLIC}(/\S+)", written)
    return found


def ask(web: Web, post: MailServer) -> str:
    """The path of the link in the mail."""
    assert "If there is an account" in web.post("/forgot", "/forgot", email=EMAIL).text
    return path_in(words(post.next_mail()))


def reset(web: Web, path: str, password: str = NEW) -> Any:
    page = web.client.get(path)
    token = path.partition("token=")[2]
    return web.client.post("/reset", data={"csrf_token": csrf(page), "token": token, "password": password})


def test_a_mail_brings_a_link_that_sets_a_new_password_once(web: Web, post: MailServer) -> None:
    other = web.app.test_client()
    form = {"csrf_token": csrf(other.get("/sign-in")), "email": EMAIL, "password": PASSWORD}
    assert other.post("/sign-in/password", data=form).status_code == 303
    web.post("/sign-out")
    web.post("/forgot", "/forgot", email=EMAIL.upper())
    mail = post.next_mail()
    assert (mail["To"], mail["From"]) == (EMAIL, "fairlane@localhost")
    path = path_in(words(mail))
    assert reset(web, path, "short").status_code == 422  # and the link still works
    assert reset(web, path).status_code == 303
    assert EMAIL in web.client.get("/").text
    assert EMAIL not in other.get("/").text
    web.post("/sign-out")
    used = reset(web, path, "a third long password")
    assert used.status_code == 422
    assert password_resets.USED in used.text
    assert send(web, "/sign-in/password").status_code == 401
    assert send(web, "/sign-in/password", password=NEW).status_code == 303
    (login,) = [line.split()[2] for line in post.said if line.startswith("AUTH PLAIN")]
    assert base64.b64decode(login) == b"\0post\0pass word"


def test_a_link_ends_after_an_hour(web: Web, post: MailServer) -> None:
    path = ask(web, post)
    rows(web, "UPDATE one_time_secrets SET expires_at = expires_at - interval '1 hour' RETURNING 1")
    assert reset(web, path).status_code == 422


def test_strangers_learn_nothing_and_fill_no_mailbox(web: Web, post: MailServer) -> None:
    known = web.post("/forgot", "/forgot", email=EMAIL)
    for address in ("nobody@example.org", "", "x" * 400, "a\r\nBcc: eve@example.org"):
        rows(web, "DELETE FROM rate_buckets RETURNING 1")
        answer = web.post("/forgot", "/forgot", email=address)
        assert answer.status_code == 200
        told = [page.text.split('role="status">')[1].split("</p>")[0] for page in (answer, known)]
        assert told[0] == told[1]
    for _ in range(password_resets.MOST * 2):
        rows(web, "DELETE FROM rate_buckets RETURNING 1")
        assert web.post("/forgot", "/forgot", email=EMAIL).status_code == 200
    assert len(rows(web, "SELECT 1 FROM one_time_secrets")) == password_resets.MOST
    answers = [web.post("/forgot", "/forgot", email="x@example.org").status_code for _ in range(8)]
    assert answers.count(429) >= 2
    for _ in range(password_resets.MOST):
        post.next_mail()


def test_a_mailed_reset_shuts_out_whoever_created_the_account_before(web: Web, post: MailServer) -> None:
    """Somebody signed up with the address of another person, and kept ways in."""
    key = Authenticator()
    register(web, key)
    (user,) = rows(web, "SELECT id FROM users WHERE kind = 'person'")
    token = web.token(user.id)
    web.post("/sign-out")
    assert reset(web, ask(web, post)).status_code == 303
    assert web.client.get("/api/v1/me", headers=token).status_code == 401
    assert "was confirmed" in web.client.get("/account").text
    mine = Authenticator()
    register(web, mine)
    web.post("/sign-out")
    assert sign_in_by_passkey(web, key).status_code == 401
    # from now on, whoever has passkeys here is the reader of its mail
    assert reset(web, ask(web, post), "a third long password").status_code == 303
    web.post("/sign-out")
    assert sign_in_by_passkey(web, mine).status_code == 303


def test_an_address_is_verified_by_its_signed_in_owner_only(web: Web, post: MailServer) -> None:
    assert "is not confirmed" in web.client.get("/account").text
    assert web.post("/account/verify", "/account").status_code == 303
    path = path_in(words(post.next_mail()))
    token = path.partition("token=")[2]
    other = web.app.test_client()
    assert "Sign in</a> first" in other.get(path).text
    form = {"csrf_token": csrf(other.get("/sign-in")), "token": token}
    assert other.post("/verify", data=form).status_code == 401
    signed = {"csrf_token": csrf(other.get("/sign-up")), "email": "eve@example.org", "password": PASSWORD}
    assert other.post("/sign-up", data=signed).status_code == 303
    assert post.next_mail()["To"] == "eve@example.org"
    assert other.post("/verify", data={"csrf_token": csrf(other.get(path)), "token": token}).status_code == 422
    assert "is not confirmed" in web.client.get("/account").text
    assert web.post("/account/verify", "/account").status_code == 303
    path = path_in(words(post.next_mail()))
    answer = web.post("/verify", path, token=path.partition("token=")[2])
    assert answer.status_code == 303
    assert "was confirmed" in web.client.get("/account").text


def test_a_link_of_one_kind_is_none_of_another(web: Web, post: MailServer) -> None:
    web.post("/account/verify", "/account")
    verify = path_in(words(post.next_mail())).partition("token=")[2]
    assert reset(web, f"/reset?token={verify}").status_code == 422
    token = ask(web, post).partition("token=")[2]
    assert web.post("/verify", "/account", token=token).status_code == 422
    assert web.post("/sign-in", f"/sign-in?token={token}", token=token).status_code == 422


def test_without_a_mail_server_the_log_has_the_link_and_passkeys_stay(make_web: Callable[..., Web]) -> None:
    web, key = make_web(sign_up="open"), Authenticator()
    send(web, "/sign-up")
    register(web, key)
    web.post("/sign-out")
    with structlog.testing.capture_logs() as lines:
        page = web.post("/forgot", "/forgot", email=EMAIL)
    assert "operator" in page.text
    (line,) = [line for line in lines if line["event"] == "mail.not_sent"]
    assert line["to"] == EMAIL
    assert reset(web, path_in(line["link"])).status_code == 303
    assert "is not confirmed" in web.client.get("/account").text
    web.post("/sign-out")
    assert sign_in_by_passkey(web, key).status_code == 303


@pytest.mark.parametrize("refused", ["MAIL", "DATA", "AUTH"])
def test_a_mail_server_that_fails_is_logged_without_its_password(web: Web, post: MailServer, refused: str) -> None:
    post.refuses = refused
    with structlog.testing.capture_logs() as lines:
        assert web.post("/forgot", "/forgot", email=EMAIL).status_code == 200
        for thread in threading.enumerate():
            if thread.name == "mail":
                thread.join(30)
    assert [line["event"] for line in lines] == ["mail.failed"]
    assert "pass word" not in str(lines)


def test_mails_that_are_too_many_at_once_are_dropped(web: Web) -> None:
    places = web.app.extensions[mails.EXTENSION].places
    for _ in range(mails.PLACES):
        places.acquire()
    with structlog.testing.capture_logs() as lines:
        assert web.post("/forgot", "/forgot", email=EMAIL).status_code == 200
    assert [line["event"] for line in lines] == ["mail.dropped"]


@pytest.mark.parametrize("path", ["/forgot", "/reset", "/verify", "/account/verify"])
def test_no_form_works_without_its_csrf_token(web: Web, path: str) -> None:
    assert web.client.post(path, data={"email": EMAIL}).status_code == 400
