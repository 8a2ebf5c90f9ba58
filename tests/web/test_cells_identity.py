"""Whom a request is of, where several cells could be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from service_harness.application import csrf, now
from sqlalchemy import text

from app.services.accounts import passwords, sessions
from app.store.cells import directory
from app.web.core.context import EXTENSION
from app.web.limits import read_buckets
from app.web.limits.read_costs import READS
from tests.databases import Databases
from tests.web.joined_cells import Joined, away, me, session_in, two_cells


@pytest.fixture(scope="module")
def cells(databases: Databases) -> Iterator[Joined]:
    with two_cells(databases) as made:
        yield made


def test_pages_are_for_the_session_whatever_else_a_proxy_sends(cells: Joined) -> None:
    account, other = cells.b.user(), cells.a.token()
    browser = cells.browser(cells.b, account.user_id)
    for header in ("Basic c3RhZ2luZzpwYXNz", other["Authorization"]):
        answer = browser.get("/account", headers={"Authorization": header})
        assert (answer.status_code, account.email in answer.text) == (200, True)


def test_a_visitor_has_one_quota_whoever_is_signed_in_at_its_browser(cells: Joined) -> None:
    client, browser = cells.client(), cells.browser(cells.b, cells.b.user().user_id)
    other = cells.browser(cells.a, cells.a.user().user_id)
    made = [
        one.post("/api/v1/analyses", json={"repository": f"acme/visitors{n}"})
        for n, one in enumerate((client, browser, other))
    ]
    assert [answer.status_code for answer in made] == [202] * 3
    assert len({cell for answer in made for cell in cells_with(cells, answer.json["id"])}) == 1


@pytest.mark.parametrize("cell", ["a", "b"])
def test_bad_tokens_of_an_address_leave_its_good_ones(
    cells: Joined, cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = getattr(cells, cell)
    good, known, browser = web.token(), web.token(), cells.browser(web, (account := web.user()).user_id)
    buckets = cells.a.app.extensions[READS].buckets
    read_buckets.found_good(buckets, known["Authorization"].removeprefix("Bearer "))  # by another process of this host
    monkeypatch.setattr(buckets, "per_minute", 5)
    monkeypatch.setattr(buckets, "clock", lambda: 0.0)
    client = cells.client(address := f"203.0.113.{ord(cell)}")
    for n in range(8):
        me(client, {"Authorization": f"Bearer fl_{n}"})
    assert me(client, good).status_code == 429
    assert me(client, known).status_code == 200
    browser._environ = {"REMOTE_ADDR": address}  # type: ignore[attr-defined]
    assert account.email in browser.get("/account").text


def test_who_reads_too_much_signs_in_nowhere_rather_than_elsewhere(
    cells: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = cells.client("203.0.113.77")
    token = csrf(client.get("/sign-in"))
    link = sessions.sign_in_link(cells.b.uow, cells.b.user().user_id, actor="test", now=now())
    monkeypatch.setattr(cells.a.app.extensions[READS].buckets, "per_minute", 2)
    for _ in range(3):
        client.get("/")
    assert client.post("/sign-in", data={"csrf_token": token, "token": link}).status_code == 429
    monkeypatch.undo()
    client._environ = {"REMOTE_ADDR": "203.0.113.78"}  # type: ignore[attr-defined]
    assert client.post("/sign-in", data={"csrf_token": token, "token": link}).status_code == 303


def test_an_account_that_begins_to_move_is_not_refused_for_what_does_not_exist(cells: Joined) -> None:
    account = cells.a.user()
    headers, browser = cells.a.token(account.user_id), cells.browser(cells.a, account.user_id)
    assert me(cells.client(), headers).status_code == 200
    with cells.directory.begin() as tx:
        assert directory.begin_move(tx, account.user_id, "b")
    nothing = f"/api/v1/analyses/{uuid4()}"
    for _ in range(2):
        assert cells.client().get(nothing, headers=headers).status_code == 404
        assert me(cells.client(), headers).status_code == 200
        page = browser.get(f"/analyses/{uuid4()}")
        assert (page.status_code, account.email in page.text) == (404, True)
    assert read_buckets.is_known(cells.a.app.extensions[READS].buckets, headers["Authorization"].split()[1])


def test_an_account_that_is_to_move_to_a_cell_that_is_away_goes_on(cells: Joined) -> None:
    account = cells.a.user()
    headers = cells.a.token(account.user_id)
    assert me(cells.client(), headers).status_code == 200
    with cells.directory.begin() as tx:
        assert directory.begin_move(tx, account.user_id, "b")
    with away(cells.b.uow):
        answer = cells.client().delete(f"/api/v1/analyses/{uuid4()}", headers=headers)
        assert answer.status_code == 404
        assert me(cells.client(), headers).status_code == 200


def test_a_refusal_that_counts_is_counted_once(cells: Joined, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong answer of a passkey is refused with 401 by the cell in which the browser is signed in."""
    account = cells.b.user()
    browser = cells.browser(cells.b, account.user_id)
    token = csrf(browser.get("/account"))
    asked: list[str] = []
    view = cells.b.app.view_functions["pages.enter_passkey"]

    def refused(**given: Any) -> Any:
        asked.append("once")
        return view(**given)[0], 401

    monkeypatch.setitem(cells.b.app.view_functions, "pages.enter_passkey", refused)
    answer = browser.post("/sign-in/passkey", data={"csrf_token": token, "credential": "{}"})
    assert (answer.status_code, asked) == (401, ["once"])


def test_an_ended_token_is_counted_once(cells: Joined) -> None:
    account = cells.b.user()
    headers, client = cells.b.token(account.user_id), cells.client("203.0.113.99")
    assert me(client, headers).status_code == 200
    with cells.b.uow.begin() as tx:
        tx.run(text("UPDATE api_tokens SET revoked_at = now() WHERE user_id = :id"), id=account.user_id)
    buckets, taken = cells.a.app.extensions[READS].buckets, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(buckets), "take", lambda self, key, cost=1: taken.append(key) or 5)
        assert me(client, headers).status_code == 401
    assert len([key for key in taken if key.startswith("refused:")]) == 1


def test_signing_in_to_another_account_ends_the_session_of_another_cell(cells: Joined) -> None:
    first, second = cells.a.user(), cells.b.user()
    browser = cells.browser(cells.a, first.user_id)
    link = sessions.sign_in_link(cells.b.uow, second.user_id, actor="test", now=now())
    form = {"csrf_token": csrf(browser.get(f"/sign-in?token={link}")), "token": link}
    assert session_in(cells.a, first.user_id) == 1
    assert browser.post("/sign-in", data=form).status_code == 303
    assert second.email in browser.get("/account").text
    assert session_in(cells.a, first.user_id) == 0


def test_signing_up_ends_the_session_of_another_cell(cells: Joined) -> None:
    account = cells.a.user()
    browser = cells.browser(cells.a, account.user_id)
    browser._environ = next(at for n in range(30) if cells.router._visitors(at := from_(f"198.51.100.{n}")) == "b")  # type: ignore[attr-defined]
    form = {"csrf_token": csrf(browser.get("/sign-up")), "email": "another@example.org", "password": "correct horse 1"}
    assert browser.post("/sign-up", data=form).status_code == 303
    assert "another@example.org" in browser.get("/account").text
    assert session_in(cells.a, account.user_id) == 0


@pytest.mark.parametrize("cell", ["a", "b"])
@pytest.mark.parametrize(
    "content_type", ["multipart/form-data", "Application/X-WWW-Form-URLencoded; charset=utf-8", None]
)
def test_a_form_is_read_as_the_application_reads_it(cells: Joined, cell: str, content_type: str | None) -> None:
    web = getattr(cells, cell)
    account, client = web.user(), cells.client()
    passwords.replace(web.uow, account.email, "correct horse 1", actor="test", now=now())
    me(client, web.token(account.user_id))  # from now on the directory knows the account
    typed = {"email": f"  {account.email.upper()} ", "password": "correct horse 1"}
    form = {"csrf_token": csrf(client.get("/sign-in")), **typed}
    data = urlencode(form) if content_type and "URLencoded" in content_type else form
    answer = client.post("/sign-in/password?email=nobody@example.org", data=data, content_type=content_type)
    assert answer.status_code == 303
    assert account.email in client.get("/account").text


def test_a_cell_that_is_away_keeps_nobody_from_signing_up_in_another(cells: Joined) -> None:
    addresses = [f"198.51.100.{n}" for n in range(20)]
    browsers = [cells.client(address) for address in addresses if cells.router._visitors(from_(address)) == "b"]
    form = {"csrf_token": csrf(browsers[0].get("/sign-up")), "email": "new@example.org", "password": "correct horse 1"}
    with away(cells.a.uow):
        assert browsers[0].post("/sign-up", data=form).status_code == 303


def test_an_account_of_a_cell_that_this_process_does_not_know_is_told_to_wait(cells: Joined) -> None:
    account = cells.a.user()
    headers = cells.a.token(account.user_id)
    with cells.directory.begin() as tx:
        directory.add(tx, account.user_id, "new", account.email or "")
    answers = [me(cells.client(), headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [503, 503]
    with cells.directory.begin() as tx:
        tx.run(text("UPDATE directory.accounts SET cell = 'a' WHERE user_id = :id"), id=account.user_id)
    assert me(cells.client(), headers).status_code == 200


def test_a_directory_that_takes_no_writes_is_read(cells: Joined) -> None:
    headers = cells.b.token()
    with cells.directory.begin() as tx:
        tx.run(text("ALTER TABLE directory.keys ADD CONSTRAINT full_disk CHECK (false) NOT VALID"))
    try:
        assert me(cells.client(), headers).status_code == 200
    finally:
        with cells.directory.begin() as tx:
            tx.run(text("ALTER TABLE directory.keys DROP CONSTRAINT full_disk"))


def test_streams_and_look_ups_are_limited_for_the_process(cells: Joined) -> None:
    a, b = (web.app.extensions for web in (cells.a, cells.b))
    assert a[EXTENSION].uow is not b[EXTENSION].uow
    assert a["fairlane-live"].places is b["fairlane-live"].places
    assert all(a[name] is b[name] for name in ("fairlane lookups", READS))


def from_(address: str) -> dict[str, str]:
    return {"REMOTE_ADDR": address}


def cells_with(cells: Joined, job_id: str) -> list[str]:
    found = []
    for name in ("a", "b"):
        with getattr(cells, name).uow.begin() as tx:
            if tx.run(text("SELECT 1 FROM analysis_requests WHERE job_id = :id"), id=job_id).all():
                found.append(name)
    return found
