"""Two cells in this process, a directory, and a router over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from service_harness.application import Web, now
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from werkzeug.test import Client, TestResponse

from app.services.accounts import sessions
from app.services.operations import read_only
from app.store.cells import directory
from app.store.core.unit_of_work import UnitOfWork
from app.web.cells.applications import joined
from app.web.cells.router import CellRouter
from app.web.core.auth import SESSION_KEY
from tests.conftest import publishing
from tests.databases import Databases
from tests.web.apps import APPS
from tests.web.conftest import wired_for_tests


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

    def visitor(self, cell: str) -> Client:
        """A browser that nobody knows, whose visitors' cell is this one."""
        addresses = (f"198.51.100.{number}" for number in range(100))
        return self.client(next(at for at in addresses if self.router._visitors({"REMOTE_ADDR": at}) == cell))

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
        tables = ("users", "api_tokens", "sessions", "passkeys", "github_links")
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


@contextmanager
def two_cells(databases: Databases, **settings: Any) -> Iterator[Joined]:
    """Join two new cells, `a` and `b`.  settings: of both."""
    with ExitStack() as stack:

        def web() -> Web:
            uow = UnitOfWork(stack.enter_context(databases.engine(stack.enter_context(databases.copy()))), publishing())
            return Web(stack.enter_context(APPS.lent(wired_for_tests(uow, **{"sign_up": "open"} | settings))), uow)

        engine = stack.enter_context(databases.engine(stack.enter_context(databases.new())))
        a, b, known = web(), web(), UnitOfWork(engine)
        with known.begin() as tx:
            assert directory.create(tx)
        router = joined({"a": a.app, "b": b.app}, "a", known)
        yield Joined(a, b, known, router)


def session_of(web: Web, user_id: Any) -> str:
    link = sessions.sign_in_link(web.uow, user_id, actor="test", now=now())
    secret = sessions.sign_in(web.uow, link, now=now())
    assert secret
    return secret


def me(client: Client, headers: dict[str, str]) -> TestResponse:
    return client.get("/api/v1/me", headers=headers)


@contextmanager
def first(module: Any, function: str, does: Callable[[], object], *, after: bool = False) -> Iterator[None]:
    """Do something once, before the first call of a function, or after it."""
    before, todo = getattr(module, function), [does]

    def called(*given: Any, **named: Any) -> Any:
        if todo and not after:
            todo.pop()()
        returned = before(*given, **named)
        if todo:
            todo.pop()()
        return returned

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, function, called)
        yield
    assert not todo


@contextmanager
def away(uow: UnitOfWork) -> Iterator[None]:
    """No connection to this database can be had."""

    def refuse() -> Any:
        raise OperationalError("connect", {}, Exception("refused"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uow.engine, "raw_connection", refuse)
        yield


@contextmanager
def taking_no_changes(uow: UnitOfWork) -> Iterator[None]:
    """An operator has switched the changes of this cell off."""
    read_only.switch(uow, on=True, actor="test")
    read_only._known.pop(uow.engine, None)
    try:
        yield
    finally:
        read_only.switch(uow, on=False, actor="test")
        read_only._known.pop(uow.engine, None)


def submitted(cells: Joined, headers: dict[str, str]) -> TestResponse:
    return cells.client().post("/api/v1/analyses", json={"repository": "acme/shop"}, headers=headers)


def session_in(web: Web, user_id: Any) -> int:
    """How many sessions an account has."""
    with web.uow.begin() as tx:
        found = tx.run(text("SELECT count(*) FROM sessions WHERE user_id = :id"), id=user_id)
        return int(found.scalar_one())
