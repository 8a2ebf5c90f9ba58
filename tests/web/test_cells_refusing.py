"""What is answered without a cell, and what is answered where an account has moved while its old cell is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from service_harness.application import csrf
from sqlalchemy.exc import OperationalError

from app.services.operations import read_only
from app.store.cells import directory
from app.store.core.unit_of_work import UnitOfWork
from tests.databases import Databases
from tests.web.joined_cells import Joined, away, me, submitted, taking_no_changes, two_cells


@pytest.fixture(scope="module")
def cells(databases: Databases) -> Iterator[Joined]:
    with two_cells(databases) as made:
        yield made


@contextmanager
def asked(*uows: UnitOfWork) -> Iterator[list[str]]:
    """Who has asked one of these databases, none of which answers, although the state of changes is not known."""
    found: list[str] = []

    def refuse() -> Any:
        found.append(threading.current_thread().name)
        raise OperationalError("connect", {}, Exception("refused"))

    with pytest.MonkeyPatch.context() as patch:
        for uow in uows:
            patch.setattr(uow.engine, "raw_connection", refuse)
            read_only._known.pop(uow.engine, None)
        yield found


def test_what_is_refused_before_a_cell_is_asked_waits_for_none(cells: Joined) -> None:
    browser, headers = cells.browser(cells.b, cells.b.user().user_id), cells.b.token()
    with away(cells.directory), asked(cells.a.uow, cells.b.uow) as found:
        answers = [browser.get("/account"), browser.get("/nothing")]
        sent = {"csrf_token": csrf(answers[0])}
        answers += [
            browser.post("/account/password", data=sent),
            browser.post("/nothing", data=sent),
            browser.delete("/account"),
            cells.client().get("/api/v1/me", headers=headers),
            cells.client().post("/api/v1/analyses", json={"repository": "acme/shop"}, headers=headers),
        ]
    assert found == []
    assert [answer.status_code for answer in answers] == [503, 404, 503, 404, 405, 503, 503]


def test_what_is_of_no_cell_waits_for_none(cells: Joined) -> None:
    with asked(cells.a.uow, cells.b.uow) as found:
        answers = [
            cells.client().get("/static/fairlane.css"),
            cells.client().get("/static/nothing.css"),
            cells.client().get("/static/"),
            cells.client().post("/static/fairlane.css"),
            cells.client().get("/healthz"),
            cells.client().post("/healthz"),
        ]
    assert found == []
    assert [answer.status_code for answer in answers] == [200, 404, 404, 405, 200, 405]


def test_one_request_at_a_time_asks_whether_changes_are_taken(cells: Joined, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one request waits for a silent database, the others go on with what was known."""
    uow, asks, go_on = cells.a.uow, threading.Event(), threading.Event()
    assert read_only.known(uow) is None
    later = time.monotonic() + 2 * read_only.SECONDS
    monkeypatch.setattr(read_only, "monotonic", lambda: later)

    def connect() -> Any:
        asks.set()
        assert go_on.wait(60)
        raise OperationalError("connect", {}, Exception("timed out"))

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(uow.engine, "raw_connection", connect)
        first = pool.submit(read_only.known, uow)
        assert asks.wait(60)
        others = pool.submit(read_only.known, uow)
        try:
            assert others.result(30) is None
            assert not first.done()
        finally:
            go_on.set()
        assert first.result(60) is None


def test_a_failed_look_keeps_what_a_later_one_has_found(cells: Joined, monkeypatch: pytest.MonkeyPatch) -> None:
    uow, now = cells.a.uow, [time.monotonic()]
    read_only._known.pop(uow.engine, None)
    monkeypatch.setattr(read_only, "monotonic", lambda: now[0])
    assert read_only.known(uow) is None
    now[0] += 2 * read_only.SECONDS
    real, looks = read_only.state, list[int]()

    def look(of: UnitOfWork) -> Any:
        looks.append(1)
        if len(looks) > 1:
            return real(of)
        now[0] += 2 * read_only.SECONDS  # while this one waits, changes are switched off, and another one looks
        read_only.switch(uow, on=True, actor="test")
        assert read_only.known(uow)
        raise OperationalError("connect", {}, Exception("timed out"))

    monkeypatch.setattr(read_only, "state", look)
    try:
        assert read_only.known(uow)
        assert read_only.known(uow)
    finally:
        read_only.switch(uow, on=False, actor="test")
        read_only._known.pop(uow.engine, None)


@pytest.mark.parametrize("noted", [False, True])
def test_an_account_that_has_moved_is_found_while_its_old_cell_is_away(cells: Joined, noted: bool) -> None:
    account = cells.a.user()
    reads, writes = cells.a.token(account.user_id), cells.a.token(account.user_id)
    browser = cells.browser(cells.a, account.user_id)
    assert [me(cells.client(), headers).status_code for headers in (reads, writes)] == [200, 200]
    assert account.email in browser.get("/account").text
    cells.moved(account.user_id, noted=noted)
    with away(cells.a.uow):
        assert me(cells.client(), reads).json["email"] == account.email
        assert account.email in browser.get("/account").text
        # a write may have been done before the cell went away, so only the client repeats it
        assert [submitted(cells, writes).status_code for _ in range(2)] == [503, 202]


def test_an_account_that_has_moved_is_found_while_its_old_cell_is_silent(cells: Joined) -> None:
    account = cells.a.user()
    headers = cells.a.token(account.user_id)
    assert me(cells.client(), headers).status_code == 200
    cells.moved(account.user_id, noted=True)
    threads = cells.router._places.threads["a"]
    with threads.one(), threads.one(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "is_silent", True)
        patch.setattr(threads, "_answered", threads.clock() - 60)
        assert me(cells.client(), headers).json["email"] == account.email


@pytest.mark.parametrize("noted", [False, True])
def test_an_account_that_has_moved_changes_things_while_its_old_cell_takes_no_changes(
    cells: Joined, noted: bool
) -> None:
    account = cells.a.user()
    headers = cells.a.token(account.user_id)
    assert me(cells.client(), headers).status_code == 200
    cells.moved(account.user_id, noted=noted)
    with taking_no_changes(cells.a.uow):
        assert submitted(cells, headers).status_code == 202
    with taking_no_changes(cells.b.uow):
        refused = submitted(cells, headers)
    assert (refused.status_code, refused.json["type"]) == (503, "/problems/read-only")


def test_what_an_account_that_has_moved_does_not_have_is_asked_of_the_others(cells: Joined) -> None:
    account = cells.a.user()
    headers = cells.a.token(account.user_id)
    assert me(cells.client(), headers).status_code == 200
    cells.moved(account.user_id, noted=True)
    with away(cells.a.uow):  # it may be of the cell that is away
        answers = [cells.client().get(f"/api/v1/analyses/{uuid4()}", headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [503, 503]
    assert cells.client().get(f"/api/v1/analyses/{uuid4()}", headers=headers).status_code == 404


def test_an_account_that_has_not_moved_yet_waits_for_its_cell(cells: Joined) -> None:
    account = cells.a.user()
    headers = cells.a.token(account.user_id)
    assert me(cells.client(), headers).status_code == 200
    with cells.directory.begin() as tx:
        assert directory.begin_move(tx, account.user_id, "b")
    with away(cells.a.uow):
        answers = [me(cells.client(), headers), submitted(cells, headers), me(cells.client(), headers)]
    assert [answer.status_code for answer in answers] == [503, 503, 503]
    assert {answer.json["type"] for answer in answers} == {"/problems/unavailable"}
    with taking_no_changes(cells.a.uow):
        refused = submitted(cells, headers)
    assert (refused.status_code, refused.json["type"]) == (503, "/problems/read-only")
    assert submitted(cells, headers).status_code == 202
    assert me(cells.client(), headers).json["email"] == account.email


def test_an_account_whose_cell_and_the_directory_are_away_waits(cells: Joined) -> None:
    headers = cells.a.token()
    assert me(cells.client(), headers).status_code == 200
    with away(cells.a.uow), away(cells.directory):
        answer = me(cells.client(), headers)
    assert (answer.status_code, answer.json["type"]) == (503, "/problems/unavailable")
