"""A web with several cells: each request goes to the cell in which its account lives."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from service_harness.application import Web, csrf, now
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from werkzeug.test import Client, TestResponse

from app.domain.plans import Tier
from app.errors import Conflict
from app.services.accounts import accounts, sessions
from app.services.cells.find_place import Places
from app.store.cells import directory
from app.store.core.unit_of_work import UnitOfWork
from app.web.cells.applications import joined
from app.web.cells.router import CellRouter
from app.web.cells.threads import MOST, SILENT_SECONDS, CellThreads, SilentError
from app.web.core.auth import SESSION_KEY
from app.web.core.context import EXTENSION
from app.web.limits.read_costs import READS
from tests.conftest import publishing
from tests.databases import Databases
from tests.web.apps import APPS
from tests.web.conftest import wired_for_tests

PASSWORD = "correct horse battery"


class From(Client):
    """A client of an address."""

    def __init__(self, application: Any, address: str) -> None:
        super().__init__(application)
        self._environ = {"REMOTE_ADDR": address}

    def open(self, *given: Any, **members: Any) -> TestResponse:
        return super().open(*given, environ_base=self._environ, **members)


@dataclass
class Joined:
    """Two cells, a directory, and a router over them."""

    a: Web
    b: Web
    directory: UnitOfWork
    router: CellRouter

    def client(self, address: str = "127.0.0.1") -> Client:
        return From(self.router, address)

    def browser(self, web: Web, user_id: Any) -> Client:
        """A browser that is signed in to an account of this cell."""
        signer: Any = web.app.session_interface.get_signing_serializer(web.app)  # type: ignore[attr-defined]
        client = self.client()
        client.set_cookie("fairlane", signer.dumps({SESSION_KEY: session_of(web, user_id)}))
        return client

    def noted(self, email: str) -> list[Any]:
        """What the directory knows of the account with this address."""
        digest = directory.digest_of(email)
        with self.directory.begin() as tx:
            return list(tx.run(text("SELECT cell, epoch FROM directory.accounts WHERE address_digest = :d"), d=digest))

    def moved(self, user_id: Any, headers: dict[str, str] | None = None, *, noted: bool) -> None:
        """The account of `a` lives in `b` now, with all its keys; noted: whether the move has ended in the directory."""
        tables = ("users", "api_tokens", "sessions")
        with self.a.uow.begin() as old, self.b.uow.begin() as new, self.directory.begin() as tx:
            for table in tables:
                key = "id" if table == "users" else "user_id"
                for (row,) in old.run(text(f"SELECT to_json(t)::text FROM {table} t WHERE {key} = :id"), id=user_id):
                    new.run(
                        text(
                            f"INSERT INTO {table} SELECT * FROM json_populate_record(NULL::{table}, CAST(:row AS json))"
                        ),
                        row=row,
                    )
            old.run(text("DELETE FROM users WHERE id = :id"), id=user_id)
            place = directory.begin_move(tx, user_id, "b")
            assert place
            if noted:
                directory.end_move(tx, place, moved=True)


@pytest.fixture(scope="module")
def cells(databases: Databases) -> Iterator[Joined]:
    with ExitStack() as stack:

        def web() -> Web:
            uow = UnitOfWork(stack.enter_context(databases.engine(stack.enter_context(databases.copy()))), publishing())
            return Web(stack.enter_context(APPS.lent(wired_for_tests(uow, sign_up="open"))), uow)

        engine = stack.enter_context(databases.engine(stack.enter_context(databases.new())))
        a, b, known = web(), web(), UnitOfWork(engine)
        with known.begin() as tx:
            assert directory.create(tx)
        router = joined({"a": a.app, "b": b.app}, "a", known)
        yield Joined(a, b, known, router)


def requests_of(web: Web, user_id: Any) -> int:
    with web.uow.begin() as tx:
        found = tx.run(text("SELECT count(*) FROM analysis_requests WHERE user_id = :id"), id=user_id)
        return int(found.scalar_one())


def session_of(web: Web, user_id: Any) -> str:
    link = sessions.sign_in_link(web.uow, user_id, actor="test", now=now())
    secret = sessions.sign_in(web.uow, link, now=now())
    assert secret
    return secret


def me(client: Client, headers: dict[str, str]) -> TestResponse:
    return client.get("/api/v1/me", headers=headers)


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
    monkeypatch.setattr(cells.a.app.extensions[READS].buckets, "per_minute", 5)
    answers = [me(client, {"Authorization": f"Bearer fl_{n}"}).status_code for n in range(6)]
    assert answers == [401] * 5 + [429]
    monkeypatch.setattr(Places, "of_key", lambda *_: pytest.fail("looked up"))
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


def test_only_the_accounts_of_a_cell_that_is_away_wait(cells: Joined) -> None:
    here, there = cells.a.token(), cells.b.token()
    unknown = cells.b.token()
    assert [me(cells.client(), headers).status_code for headers in (here, there)] == [200, 200]
    with away(cells.b.uow):
        answers = [me(cells.client(), headers) for headers in (here, there, unknown)]
    assert [answer.status_code for answer in answers] == [200, 503, 503]
    assert {answer.headers["Retry-After"] for answer in answers[1:]} == {"2"}


def test_a_cell_whose_host_has_vanished_leaves_the_others_threads(cells: Joined) -> None:
    here, there = cells.a.token(), cells.b.token()
    assert [me(cells.client(), headers).status_code for headers in (here, there)] == [200, 200]
    waiting, go_on = threading.Semaphore(0), threading.Event()

    def connect() -> Any:
        waiting.release()
        go_on.wait(60)
        raise OperationalError("connect", {}, Exception("timed out"))

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(MOST) as pool:
        patch.setattr(cells.b.uow.engine, "raw_connection", connect)
        silent = [pool.submit(me, cells.client(), there) for _ in range(MOST)]
        for _ in silent:
            assert waiting.acquire(timeout=60)
        later = cells.router._threads["b"]
        patch.setattr(later, "clock", lambda: time.monotonic() + SILENT_SECONDS)
        refused = me(cells.client(), there)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert "does not answer" in refused.json["detail"]
        assert me(cells.client(), here).status_code == 200
        go_on.set()
        assert {one.result().status_code for one in silent} == {503}
    assert me(cells.client(), there).status_code == 200


def test_a_cell_that_answers_may_hold_more_threads() -> None:
    now = [0.0]
    threads = CellThreads(2, lambda: now[0])
    with threads.one(), threads.one(), threads.one():
        now[0] = SILENT_SECONDS + 0.1
        with pytest.raises(SilentError), threads.one():
            pass
    with threads.one(), threads.one(), threads.one():
        pass


def test_without_the_directory_those_that_are_remembered_and_visitors_go_on(cells: Joined) -> None:
    known, unknown = cells.a.token(), cells.a.token()
    assert me(cells.client(), known).status_code == 200
    with away(cells.directory):
        answers = [me(cells.client(), known), me(cells.client(), unknown), cells.client().get("/")]
    assert [answer.status_code for answer in answers] == [200, 503, 200]
    assert "looked up" in answers[1].json["detail"]


def test_metrics_and_readiness_are_of_the_cell_that_is_named(cells: Joined) -> None:
    with away(cells.b.uow):
        answers = [cells.client().get("/readyz", query_string={"cell": cell}).status_code for cell in ("a", "b", "c")]
    assert answers == [200, 503, 200]


@contextmanager
def away(uow: UnitOfWork) -> Iterator[None]:
    """No connection to this database can be had."""

    def refuse() -> Any:
        raise OperationalError("connect", {}, Exception("refused"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uow.engine, "raw_connection", refuse)
        yield


def signed_up(cells: Joined, email: str, address: str = "127.0.0.1") -> TestResponse:
    client = cells.client(address)
    form = {"csrf_token": csrf(client.get("/sign-up")), "email": email, "password": PASSWORD}
    return client.post("/sign-up", data=form)


def add(web: Web, email: str) -> None:
    uow = web.app.extensions[EXTENSION].uow
    accounts.add_user(uow, email, tier=Tier.FREE, actor="test", now=now())
