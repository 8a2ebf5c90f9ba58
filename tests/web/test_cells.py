"""A web with several cells: each request goes to the cell in which its account lives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from service_harness.application import Web, csrf, now
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.domain.plans import Tier
from app.errors import Conflict
from app.services.accounts import accounts
from app.services.cells.find_cell import AccountCells
from app.store.cells import directory, keys
from app.web.core.context import EXTENSION
from app.web.limits.read_costs import READS
from tests.databases import Databases
from tests.web.joined_cells import Joined, me, two_cells

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def cells(databases: Databases) -> Iterator[Joined]:
    with two_cells(databases) as made:
        yield made


def requests_of(web: Web, user_id: Any) -> int:
    with web.uow.begin() as tx:
        found = tx.run(text("SELECT count(*) FROM analysis_requests WHERE user_id = :id"), id=user_id)
        return int(found.scalar_one())


@pytest.mark.parametrize("cell", ["a", "b"])
def test_a_token_is_used_in_the_cell_of_its_account(cells: Joined, cell: str) -> None:
    web: Web = getattr(cells, cell)
    account = web.user()
    headers = web.token(account.user_id)
    for _ in range(2):  # the cells are asked, then it is remembered
        assert me(cells.client(), headers).json["email"] == account.email
    assert cells.noted(account.email or "") == [(cell, 1)]
    answer = cells.client().post("/api/v1/analyses", json={"repository": "acme/shop"}, headers=headers)
    assert answer.status_code == 202
    assert requests_of(web, account.user_id) == 1


def test_a_token_of_no_cell_is_refused_as_it_is_without_cells(cells: Joined) -> None:
    answer = me(cells.client(), {"Authorization": "Bearer fl_nobody"})
    assert (answer.status_code, answer.json["type"]) == (401, "/problems/unauthenticated")


def test_a_revoked_token_is_refused_where_its_account_lives(cells: Joined) -> None:
    account = cells.b.user()
    headers = cells.b.token(account.user_id)
    assert me(cells.client(), headers).status_code == 200
    with cells.b.uow.begin() as tx:
        tx.run(text("UPDATE api_tokens SET revoked_at = now() WHERE user_id = :id"), id=account.user_id)
    assert me(cells.client(), headers).status_code == 401


def test_who_sent_many_bad_tokens_has_no_further_ones_looked_up(cells: Joined, monkeypatch: pytest.MonkeyPatch) -> None:
    client = cells.client("203.0.113.9")
    buckets = cells.a.app.extensions[READS].buckets
    monkeypatch.setattr(buckets, "per_minute", 5)
    monkeypatch.setattr(buckets, "clock", lambda: 0.0)
    answers = [me(client, {"Authorization": f"Bearer fl_{n}"}).status_code for n in range(6)]
    assert answers == [401] * 5 + [429]
    monkeypatch.setattr(AccountCells, "of_key", lambda *_: pytest.fail("looked up"))
    assert me(client, {"Authorization": "Bearer fl_another"}).status_code == 429


@pytest.mark.parametrize("noted", [False, True])
def test_an_account_that_has_moved_is_found_in_its_new_cell(cells: Joined, noted: bool) -> None:
    account = cells.a.user()
    headers = cells.a.token(account.user_id)
    browser = cells.browser(cells.a, account.user_id)
    assert me(cells.client(), headers).status_code == 200
    assert account.email in browser.get("/account").text
    cells.moved(account.user_id, noted=noted)
    answer = cells.client().post("/api/v1/analyses", json={"repository": "acme/shop"}, headers=headers)
    assert answer.status_code == 202
    assert account.email in browser.get("/account").text
    assert [requests_of(web, account.user_id) for web in (cells.a, cells.b)] == [0, 1]


def test_an_account_that_arrives_is_deleted_when_its_move_has_ended(cells: Joined) -> None:
    """Until then the cell that it leaves may still take the move back."""
    account = cells.a.user()
    browser = cells.browser(cells.a, account.user_id)
    assert account.email in browser.get("/account").text
    cells.moved(account.user_id, noted=False)
    form = {"csrf_token": csrf(browser.get("/account")), "email": account.email}
    refused = browser.post("/account/delete", data=form)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert account.email in browser.get("/account").text
    with cells.directory.begin() as tx:
        [place] = [place for place in directory.moving(tx) if place.user_id == account.user_id]
        directory.end_move(tx, place, moved=True)
    assert browser.post("/account/delete", data=form).status_code == 303
    assert cells.noted(account.email or "") == []
    for web in (cells.a, cells.b):
        with web.uow.once() as tx:
            assert not keys.is_here(tx, account.user_id)


def test_an_ended_session_is_a_strangers(cells: Joined) -> None:
    account = cells.b.user()
    browser = cells.browser(cells.b, account.user_id)
    assert account.email in browser.get("/account").text
    with cells.b.uow.begin() as tx:
        tx.run(text("DELETE FROM sessions WHERE user_id = :id"), id=account.user_id)
    assert browser.get("/").status_code == 200
    assert browser.get("/account").status_code in {302, 303, 401}


def test_an_address_has_one_account_over_all_cells(cells: Joined) -> None:
    first = signed_up(cells, "ann@example.org")
    assert first.status_code == 303
    [(cell, _)] = cells.noted("ann@example.org")
    again = signed_up(cells, "Ann@Example.org")
    assert again.status_code == 409
    other = cells.b if cell == "a" else cells.a
    with pytest.raises(Conflict, match=r"account for ann@example\.org"):
        add(other, "ann@example.org")
    assert cells.noted("ann@example.org") == [(cell, 1)]


def test_somebody_signs_in_by_an_address_of_any_cell(cells: Joined) -> None:
    for n in range(6):  # of both cells, by the client's address
        assert signed_up(cells, f"u{n}@example.org", address=f"198.51.100.{n}").status_code == 303
    assert {cells.noted(f"u{n}@example.org")[0].cell for n in range(6)} == {"a", "b"}
    for n in range(6):
        client = cells.client()
        form = {"csrf_token": csrf(client.get("/sign-in")), "email": f"u{n}@example.org", "password": PASSWORD}
        assert client.post("/sign-in/password", data=form).status_code == 303
        assert f"u{n}@example.org" in client.get("/account").text


def test_what_is_public_is_found_in_another_cell_and_what_is_not_is_not(cells: Joined) -> None:
    owner, reader = cells.a.token(), cells.b.token()
    job_id = cells.a.submit("secret", owner).json["id"]
    cells.a.completed(job_id)
    for headers in (owner, reader, {}):
        answer = cells.client().get(f"/api/v1/analyses/{job_id}", headers=headers)
        assert (answer.status_code, answer.json["status"]) == (200, "completed")
    with cells.a.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true WHERE name = 'secret'"))
    answers = [
        cells.client().get(f"/api/v1/analyses/{job_id}", headers=headers).status_code for headers in (owner, reader, {})
    ]
    assert answers == [200, 404, 404]


def signed_up(cells: Joined, email: str, address: str = "127.0.0.1") -> TestResponse:
    client = cells.client(address)
    form = {"csrf_token": csrf(client.get("/sign-up")), "email": email, "password": PASSWORD}
    return client.post("/sign-up", data=form)


def add(web: Web, email: str) -> None:
    uow = web.app.extensions[EXTENSION].uow
    accounts.add_user(uow, email, tier=Tier.FREE, actor="test", now=now())
