"""Links by mail or in the log: a forgotten password, and a verified address."""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.message import Message
from typing import Any

import pytest
import structlog
from pydantic import SecretStr
from service_harness.application import Web, csrf, without_csrf
from sqlalchemy import text

from app.concurrency import Lane
from app.services.accounts import password_hashes, password_resets
from app.services.operations import read_only
from app.web.accounts import mails, notices, verification
from tests.web.authenticators import Authenticator
from tests.web.conftest import rows
from tests.web.mail_double import MailServer, mail_server
from tests.web.test_passkeys import register
from tests.web.test_passkeys import sign_in as sign_in_by_passkey
from tests.web.test_passwords import EMAIL, PASSWORD, send
from tests.web.transactions import transactions

NEW, PUBLIC = "another long password", "http://localhost"


@pytest.fixture
def post() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found
        settle()


def settle() -> None:
    """Wait until no thread looks a reader up or sends a mail."""
    while writing := [thread for thread in threading.enumerate() if thread.name == "mail"]:
        for thread in writing:
            thread.join(30)
            assert not thread.is_alive()


@pytest.fixture
def web(make_web: Callable[..., Web], post: MailServer) -> Web:
    web = make_web(sign_up="open", smtp_url=SecretStr(post.url), public_url=PUBLIC)
    send(web, "/sign-up")
    assert post.next_mail()["Subject"] == verification.SUBJECT
    rows(web, "DELETE FROM one_time_secrets RETURNING 1")
    post.said.clear()
    return web


def words(mail: Message) -> str:
    return mail.get_payload(decode=True).decode()


def path_in(written: str) -> str:
    (found,) = re.findall(rf"(?:{PUBLIC}|^)(/\S+)", written)
    return found


def printed(web: Web, **request: Any) -> str:
    """The link that the log has of a forgotten password."""
    sent = {"csrf_token": csrf(web.client.get("/forgot", **request)), "email": EMAIL}
    with structlog.testing.capture_logs() as lines:
        assert web.client.post("/forgot", data=sent, **request).status_code == 200
        settle()
    (line,) = [line for line in lines if line["event"] == "mail.not_sent"]
    assert line["to"] == EMAIL
    return str(line["link"])


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
    assert post.next_mail()["Subject"] == notices.SUBJECT
    (login,) = {line.split()[2] for line in post.said if line.startswith("AUTH PLAIN")}
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
        settle()
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
    assert post.next_mail()["Subject"] == notices.SUBJECT
    assert web.client.get("/api/v1/me", headers=token).status_code == 401
    assert "was confirmed" in web.client.get("/account").text
    mine = Authenticator()
    register(web, mine)
    assert post.next_mail()["Subject"] == notices.SUBJECT
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


def test_without_a_mail_server_the_log_has_the_link_and_the_operator_vouches(make_web: Callable[..., Web]) -> None:
    web, key = make_web(sign_up="open"), Authenticator()
    send(web, "/sign-up")
    register(web, key)
    web.post("/sign-out")
    assert "operator" in web.client.get("/forgot").text
    assert reset(web, path_in(printed(web))).status_code == 303
    assert "was confirmed" in web.client.get("/account").text
    web.post("/sign-out")
    assert sign_in_by_passkey(web, key).status_code == 401


@pytest.mark.parametrize("public", [None, "https://fairlane.example.org"])
def test_a_printed_link_never_has_the_host_of_whoever_asked(make_web: Callable[..., Web], public: str | None) -> None:
    web = make_web(sign_up="open", public_url=public)
    send(web, "/sign-up")
    link = printed(web, base_url="http://198.51.100.66")
    assert link.startswith(f"{public or ''}/reset?token=")
    with structlog.testing.capture_logs() as lines:
        web.post("/account/verify", "/account")
    assert lines[-1]["link"].startswith(f"{public or ''}/verify?token=")


@pytest.mark.parametrize("refused", ["MAIL", "DATA", "AUTH"])
def test_a_mail_server_that_fails_is_logged_without_its_password(web: Web, post: MailServer, refused: str) -> None:
    post.refuses = refused
    with structlog.testing.capture_logs() as lines:
        assert web.post("/forgot", "/forgot", email=EMAIL).status_code == 200
        settle()
    assert [line["event"] for line in lines] == ["mail.failed"]
    assert "pass word" not in str(lines)


def test_an_older_account_with_an_address_that_reaches_others_gets_no_mail(web: Web) -> None:
    odd = "x<ceo@corp.test>"
    with web.uow.begin() as tx:
        tx.run(text("UPDATE users SET email = :odd WHERE email = :email"), odd=odd, email=EMAIL)
    with structlog.testing.capture_logs() as lines:
        assert web.post("/forgot", "/forgot", email=odd).status_code == 200
        settle()
    assert [(line["event"], line["to"]) for line in lines] == [("mail.address_refused", odd)]


def test_a_mail_goes_to_the_one_address_of_its_account(web: Web, post: MailServer) -> None:
    web.post("/forgot", "/forgot", email=EMAIL)
    assert post.next_mail()["To"] == EMAIL
    assert [line for line in post.said if line.upper().startswith("RCPT")] == [f"rcpt TO:<{EMAIL}>"]


def test_mails_that_are_too_many_at_once_are_dropped(web: Web) -> None:
    places = web.app.extensions[mails.EXTENSION].places
    for _ in range(mails.PLACES):
        places.acquire()
    with structlog.testing.capture_logs() as lines:
        assert web.post("/forgot", "/forgot", email=EMAIL).status_code == 200
        settle()
    assert [line["event"] for line in lines] == ["mail.dropped"]


def test_look_ups_that_are_too_many_at_once_are_dropped(web: Web) -> None:
    lookups = web.app.extensions[mails.EXTENSION].lookups
    for _ in range(mails.LOOKUPS):
        lookups.acquire()
    with structlog.testing.capture_logs() as lines:
        pages = {
            without_csrf(web.post("/forgot", "/forgot", email=email).text) for email in (EMAIL, "nobody@example.org")
        }
        settle()
    assert [line["event"] for line in lines] == ["mail.dropped"] * 2
    assert len(pages) == 1


@pytest.mark.usefixtures("post")
def test_a_request_for_a_link_does_the_same_for_everybody_and_the_rest_after_its_answer(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_only, "SECONDS", 600.0)
    read_only._known.pop(web.uow.engine, None)  # the first page looks
    asked, afterwards, stranger = {}, {}, web.app.test_client()
    for email in (EMAIL, "nobody@example.org", "x" * 400):
        page = stranger.get("/forgot")
        with transactions(web) as threads:
            stranger.post("/forgot", data={"csrf_token": csrf(page), "email": email})
            settle()
        asked[email] = [name for name in threads if name != "mail"]
        afterwards[email] = [name for name in threads if name == "mail"]
    assert asked[EMAIL] == asked["nobody@example.org"] == asked["x" * 400]
    assert len(asked[EMAIL]) == 1  # the throttle
    assert afterwards[EMAIL]


def test_requests_at_once_make_no_more_links_than_one_after_the_other(web: Web) -> None:
    now = datetime.now(UTC)
    with ThreadPoolExecutor(8) as threads:
        made = [*threads.map(lambda _: password_resets.ask(web.uow, EMAIL, mailed=True, now=now), range(8))]
    assert len([letter for letter in made if letter]) == password_resets.MOST


def test_a_busy_service_tells_who_resets_when_to_try_again(
    web: Web, post: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lane = ask(web, post), Lane("sign-ins", 1, 1)
    monkeypatch.setattr(password_hashes, "_own_lane", lane)
    with lane.place("somebody"):
        refused = reset(web, path)
    assert (refused.status_code, int(refused.headers["Retry-After"]) > 0) == (503, True)
    assert reset(web, path).status_code == 303


@pytest.mark.parametrize("path", ["/forgot", "/reset", "/verify", "/account/verify"])
def test_no_form_works_without_its_csrf_token(web: Web, path: str) -> None:
    assert web.client.post(path, data={"email": EMAIL}).status_code == 400
