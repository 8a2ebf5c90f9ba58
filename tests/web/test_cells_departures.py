"""Accounts of cells that move while one of their requests is answered: it is answered where they live then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from service_harness.application import csrf, now
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from werkzeug.test import Client, TestResponse

from app.services.accounts import accounts, bookmarks, github, passkey_checks, password_resets, passwords, sessions
from app.services.accounts import passkeys as passkey_use_cases
from app.services.accounts.accounts import Account
from app.services.cells import move_account
from app.services.cells.find_cell import AccountCells, DirectoryAwayError
from app.services.specifications import share_links
from app.store.accounts import one_time_secrets
from app.store.accounts import passwords as stored_passwords
from app.store.accounts.one_time_secrets import Purpose
from app.store.cells import directory
from app.store.core.unit_of_work import UnitOfWork
from app.store.repositories import bookmarks as stored_bookmarks
from app.web.accounts import notices
from app.web.accounts.mails import EXTENSION as MAILS
from tests.databases import Databases
from tests.web.authenticators import Authenticator
from tests.web.joined_cells import Joined, first, me, session_in, two_cells
from tests.web.ways_in import add_passkey, is_signed_in, options, send

OLD, NEW = "correct horse battery", "another long password"
MARK = "/api/v1/me/bookmarks/github.com/acme/shop"
Leave = Callable[[Account], Callable[[], None]]


@pytest.fixture(scope="module")
def cells(databases: Databases) -> Iterator[Joined]:
    with two_cells(databases) as made:
        yield made


@pytest.fixture(params=[False, True], ids=["not noted", "noted"])
def leave(request: pytest.FixtureRequest, cells: Joined) -> Leave:
    """Moves an account from `a` to `b`, with all that it has; perhaps the directory has noted the end."""

    def move(account: Account) -> None:
        with cells.directory.begin() as tx:
            place = directory.begin_move(tx, account.user_id, "b")
        assert place
        move_account.move(cells.a.uow, cells.b.uow, account.user_id, epoch=place.epoch)
        if request.param:
            with cells.directory.begin() as tx:
                directory.end_move(tx, place, moved=True)

    return lambda account: partial(move, account)


def known(cells: Joined) -> tuple[Account, dict[str, str]]:
    """An account of `a` with a password, and a token of it, by which the directory knows it."""
    account = cells.a.user()
    passwords.replace(cells.a.uow, account.email or "", OLD, actor="test", now=now())
    headers = cells.a.token(account.user_id)
    assert me(cells.client(), headers).status_code == 200
    return account, headers


def rows(uow: UnitOfWork, table: str, account: Account) -> int:
    with uow.begin() as tx:
        found = tx.run(text(f"SELECT count(*) FROM {table} WHERE user_id = :id"), id=account.user_id)
        return int(found.scalar_one())


def analysed(cells: Joined, headers: dict[str, str]) -> str:
    """A completed analysis of the repository, which is a new commit each time."""
    job_id = str(cells.a.submit("shop", headers, commit=uuid4().hex + "0" * 8).json["id"])
    cells.a.completed(job_id)
    return job_id


def shared(cells: Joined, headers: dict[str, str]) -> tuple[str, str]:
    """The path of a link of the API, and that of its page."""
    asked = {"analysis_id": analysed(cells, headers), "language": "en"}
    job_id = cells.client().post("/api/v1/specs", json=asked, headers=headers).json["id"]
    cells.a.written(job_id)
    path = f"/api/v1/specs/{job_id}/share"
    return path, cells.client().post(path, headers=headers).json["page"]


def typed(client: Client, email: str | None, password: str) -> TestResponse:
    form = {"csrf_token": csrf(client.get("/sign-in")), "email": email or "", "password": password}
    return client.post("/sign-in/password", data=form)


def test_a_link_that_is_withdrawn_meanwhile_opens_nothing(cells: Joined, leave: Leave) -> None:
    account, headers = known(cells)
    path, page = shared(cells, headers)
    assert cells.client().get(page).status_code == 200
    with first(share_links, "check_visible", leave(account), after=True):
        assert cells.client().delete(path, headers=headers).status_code == 204
    assert cells.client().get(page).status_code == 404


def test_an_operator_who_withdraws_the_link_of_somebody_who_leaves_is_told(cells: Joined, leave: Leave) -> None:
    account, headers = known(cells)
    path, page = shared(cells, headers)
    operator = cells.a.token(cells.a.user(is_operator=True).user_id, "write", "operator")
    with first(share_links, "check_visible", leave(account), after=True):
        assert cells.client().delete(path, headers=operator).status_code == 404
    assert cells.client().get(page).status_code == 200


def test_a_session_that_is_ended_meanwhile_is_over(cells: Joined, leave: Leave) -> None:
    account, _ = known(cells)
    browser, copy = (cells.browser(cells.a, account.user_id) for _ in range(2))
    copy.set_cookie("fairlane", browser.get_cookie("fairlane").value)  # type: ignore[union-attr]
    assert is_signed_in(copy, account.email)
    before = session_in(cells.a, account.user_id)
    with first(sessions, "sign_out", leave(account)):
        assert send(browser, "/sign-out", "/account").status_code == 303
    assert session_in(cells.b, account.user_id) == before - 1
    assert not is_signed_in(copy, account.email)


def test_a_session_that_ended_before_is_ended_again(cells: Joined) -> None:
    account, _ = known(cells)
    browser = cells.browser(cells.a, account.user_id)
    token = csrf(browser.get("/account"))
    with first(sessions, "sign_out", lambda: sessions.sign_out(cells.a.uow, own(cells, browser))):
        assert browser.post("/sign-out", data={"csrf_token": token}).status_code == 303


def test_an_address_is_confirmed_by_a_link_after_a_move(cells: Joined, leave: Leave) -> None:
    account, _ = known(cells)
    browser = cells.browser(cells.a, account.user_id)
    with cells.a.uow.begin() as tx:
        tx.run(text("UPDATE users SET email_verified_at = NULL WHERE id = :id"), id=account.user_id)
    letter = password_resets.ask_to_verify(cells.a.uow, account, now=now())
    assert letter
    page = f"/verify?token={letter.secret}"
    with first(password_resets, "verify", leave(account)):
        assert send(browser, "/verify", page, token=letter.secret).status_code == 303
    assert password_resets.verified_at(cells.b.uow, account.user_id)
    assert is_signed_in(browser, account.email)


def own(cells: Joined, browser: Client) -> str:
    signer = cells.a.app.session_interface.get_signing_serializer(cells.a.app)  # type: ignore[attr-defined]
    return str(signer.loads(browser.get_cookie("fairlane").value)["secret"])  # type: ignore[union-attr]


def test_the_session_before_a_sign_in_ends_where_it_has_moved(cells: Joined, leave: Leave) -> None:
    account, other = known(cells)[0], cells.b.user()
    passwords.replace(cells.b.uow, other.email or "", OLD, actor="test", now=now())
    assert me(cells.client(), cells.b.token(other.user_id)).status_code == 200
    browser = cells.browser(cells.a, account.user_id)
    assert is_signed_in(browser, account.email)
    with first(type(cells.router._places), "sign_out", leave(account)):
        assert typed(browser, other.email, OLD).status_code == 303
    assert session_in(cells.b, account.user_id) == 0


def test_a_bookmark_is_put_where_the_account_lives(cells: Joined, leave: Leave) -> None:
    account, headers = known(cells)
    analysed(cells, headers)
    with first(stored_bookmarks, "add", leave(account)):
        assert cells.client().put(MARK, headers=headers).status_code == 200
    assert rows(cells.b.uow, "bookmarks", account) == 1


def test_a_bookmark_that_is_removed_meanwhile_is_gone(cells: Joined, leave: Leave) -> None:
    account, headers = known(cells)
    analysed(cells, headers)
    assert cells.client().put(MARK, headers=headers).status_code == 200
    with first(bookmarks, "remove", leave(account)):
        assert cells.client().delete(MARK, headers=headers).status_code == 204
    assert rows(cells.b.uow, "bookmarks", account) == 0


def test_a_password_is_right_also_after_a_move(cells: Joined, leave: Leave) -> None:
    account, _ = known(cells)
    with first(stored_passwords, "hash_of", leave(account)):
        assert typed(client := cells.client(), account.email, OLD).status_code == 303
    assert is_signed_in(client, account.email)
    assert typed(cells.client(), account.email, NEW).status_code == 401


@pytest.mark.parametrize("when", ["_owner", "_use_up", "_put"])
def test_a_link_sets_a_password_once_wherever_its_account_is(
    cells: Joined, leave: Leave, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, _ = known(cells)
    noticed = list[str | None]()
    monkeypatch.setattr(notices, "tell_verified", lambda told, _: noticed.append(told.email))
    secret = password_resets.hand_out(cells.a.uow, account, actor="test", now=now())
    client = cells.client()
    assert send(client, "/reset", f"/reset?token={secret}", token=secret, password="short").status_code == 422
    with first(password_resets, when, leave(account)):
        assert send(client, "/reset", f"/reset?token={secret}", token=secret, password=NEW).status_code == 303
    assert is_signed_in(client, account.email)
    assert noticed == [account.email]
    assert [typed(cells.client(), account.email, password).status_code for password in (OLD, NEW)] == [401, 303]
    again = send(cells.client(), "/reset", f"/reset?token={secret}", token=secret, password=OLD)
    assert again.status_code == 422


@pytest.mark.parametrize("when", ["find_by_email", "lock"])
def test_a_link_for_a_forgotten_password_is_mailed_after_a_move(
    cells: Joined, leave: Leave, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, _ = known(cells)
    found = list[object]()

    def look_up(find: Callable[[], object], *_: object) -> None:
        with first(password_resets.users, when, leave(account)):
            found.append(find())

    monkeypatch.setattr(cells.a.app.extensions[MAILS], "send_found", look_up)
    assert send(cells.client(), "/forgot", "/forgot", email=account.email or "").status_code == 200
    [(email, _)] = found
    assert email == account.email
    with cells.b.uow.begin() as tx:
        assert one_time_secrets.living(tx, account.user_id, Purpose.RESET, now=now()) == 1


def test_nobody_without_an_account_gets_a_link(cells: Joined) -> None:
    elsewhere = cells.a.app.extensions["fairlane"].elsewhere
    asked = partial(password_resets.ask, cells.a.uow, mailed=True, elsewhere=elsewhere, now=now())
    assert asked("nobody@example.org") is None


def test_a_link_of_an_operator_signs_in_after_a_move(cells: Joined, leave: Leave) -> None:
    account, _ = known(cells)
    secret = sessions.sign_in_link(cells.a.uow, account.user_id, actor="test", now=now())
    client = cells.client()
    with first(sessions, "sign_in", leave(account)):
        assert send(client, "/sign-in", f"/sign-in?token={secret}", token=secret).status_code == 303
    assert is_signed_in(client, account.email)


def test_a_way_in_is_removed_where_the_others_are(cells: Joined, leave: Leave) -> None:
    """In the old cell it looked like the last one."""
    account, _ = known(cells)
    with cells.a.uow.begin() as tx:
        tx.run(
            text("INSERT INTO github_links VALUES (:id, :number, 'octo', now())"), id=account.user_id, number=next(IDS)
        )
    browser = cells.browser(cells.a, account.user_id)
    assert is_signed_in(browser, account.email)
    with first(github, "unlink", leave(account)):
        assert send(browser, "/account/github/unlink", "/account").status_code == 303
    assert rows(cells.b.uow, "github_links", account) == 0


IDS = iter(range(9000, 10000))


def test_a_passkey_is_asked_for_where_the_account_lives(cells: Joined, leave: Leave) -> None:
    account, _ = known(cells)
    browser = cells.browser(cells.a, account.user_id)
    assert is_signed_in(browser, account.email)
    with first(passkey_use_cases, "begin_registration", leave(account)):
        assert send(browser, "/account/passkeys/options", "/account").status_code == 200
    assert rows(cells.b.uow, "one_time_secrets", account) == 1


def test_a_passkey_is_added_where_the_account_lives(cells: Joined, leave: Leave) -> None:
    account, _ = known(cells)
    browser = cells.browser(cells.a, account.user_id)
    made = Authenticator().create(options(browser, "/account/passkeys", "/account"))
    with first(passkey_checks, "checked_registration", leave(account)):
        assert send(browser, "/account/passkeys", "/account", credential=made, name="A key").status_code == 303
    assert rows(cells.b.uow, "passkeys", account) == 1


@pytest.mark.parametrize("when", [(passkey_use_cases, "_checked"), (passkey_checks, "checked_use")])
def test_a_passkey_proves_who_somebody_is_where_the_account_lives(
    cells: Joined, leave: Leave, when: tuple[Any, str]
) -> None:
    account, _ = known(cells)
    browser = cells.browser(cells.a, account.user_id)
    key = add_passkey(browser)
    path = "/account/confirm/passkey"
    answer = key.get(options(browser, path, "/account/confirm"))
    with first(*when, leave(account)):
        proved = send(browser, path, "/account/confirm", credential=answer)
    assert proved.status_code == 303
    assert is_signed_in(browser, account.email)
    assert send(browser, path, "/account/confirm", credential=answer).status_code == 422


def test_a_fresh_proof_is_not_asked_for_again(cells: Joined, leave: Leave) -> None:
    account, _ = known(cells)
    browser = cells.browser(cells.a, account.user_id)
    assert is_signed_in(browser, account.email)
    with first(sessions, "require_fresh", leave(account)):
        answer = send(browser, "/tokens", "/account", name="late")
    assert answer.status_code < 300 or "confirm" not in answer.headers["Location"]
    assert rows(cells.b.uow, "api_tokens", account) == 2


def test_a_refusal_that_holds_in_both_cells_is_the_answer(cells: Joined, leave: Leave) -> None:
    account, headers = known(cells)
    with first(bookmarks, "add", leave(account)):
        assert cells.client().put(MARK.replace("shop", "none"), headers=headers).status_code == 404
    browser = cells.browser(cells.b, account.user_id)
    wrong = {"current": NEW, "password": NEW}
    assert send(browser, "/account/password", "/account", **wrong).status_code == 422


def test_a_refusal_is_the_answer_where_its_account_cannot_be_looked_up(
    cells: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, headers = known(cells)

    def fail(*_: object) -> bool:
        raise OperationalError("connect", {}, Exception("refused"))

    monkeypatch.setattr(accounts, "is_here", fail)
    assert cells.client().put(MARK.replace("shop", "none"), headers=headers).status_code == 404
    client = cells.client()
    form = {"csrf_token": csrf(client.get("/sign-in")), "email": account.email, "password": NEW}
    looked_up = AccountCells.of_address

    def once(*given: object) -> str | None:
        monkeypatch.setattr(AccountCells, "of_address", away)
        return looked_up(*given)  # type: ignore[arg-type]

    def away(*_: object) -> str | None:
        raise DirectoryAwayError

    monkeypatch.setattr(AccountCells, "of_address", once)
    assert client.post("/sign-in/password", data=form).status_code == 401


def test_an_account_that_is_deleted_meanwhile_is_not_found(cells: Joined) -> None:
    account, headers = known(cells)
    analysed(cells, headers)

    def delete() -> None:
        with cells.a.uow.begin() as tx:
            tx.run(text("DELETE FROM users WHERE id = :id"), id=account.user_id)

    with first(stored_bookmarks, "add", delete):
        answer = cells.a.app.test_client().put(MARK, headers=headers)
    assert (answer.status_code, answer.json["detail"]) == (404, "The account no longer exists")
