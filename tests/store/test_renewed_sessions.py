"""A pool replaces a session that is old, and nobody notices."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg2
import pytest
from sqlalchemy import Engine, text

from app.store.core.connections import RENEWED_AT, SESSION_SECONDS, make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World
from tests.databases import Databases, run_sql

PID = text("SELECT pg_backend_pid()")


def pid(uow: UnitOfWork) -> int:
    with uow.begin() as tx:
        return int(tx.run(PID).scalar_one())


def test_an_old_session_is_renewed_alone_and_ends_at_the_server(world: World) -> None:
    engine = make_engine(world.uow.engine.url.render_as_string(hide_password=False), pool_size=2)
    uow, began = UnitOfWork(engine), time.monotonic()
    with uow.begin() as young, uow.begin() as old:
        kept, ended = (int(tx.run(PID).scalar_one()) for tx in (young, old))
    records = [engine.raw_connection(), engine.raw_connection()]
    due = [record.info[RENEWED_AT] for record in records]
    assert all(began + SESSION_SECONDS / 2 <= at <= time.monotonic() + 1.5 * SESSION_SECONDS for at in due)
    assert due[0] != due[1]
    for record in records:
        if record.get_backend_pid() == ended:  # type: ignore[attr-defined]
            record.info[RENEWED_AT] = time.monotonic()
        record.close()
    with uow.begin() as a, uow.begin() as b:
        now = {int(tx.run(PID).scalar_one()) for tx in (a, b)}
    assert kept in now
    assert ended not in now
    while world.value("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid", pid=ended):
        pass
    engine.dispose()


@pytest.mark.parametrize("limit", [0, 2], ids=["takes no sessions", "has no place beside those that are kept"])
def test_an_old_session_goes_on_while_the_server_begins_no_other(databases: Databases, limit: int) -> None:
    """Others may have taken all of its places, and a session that has just ended holds its own for a moment."""
    with databases.new() as url:
        engine = make_engine(url, pool_size=2, overflow=0)
        uow = UnitOfWork(engine)
        before = two(uow)
        name = engine.url.database
        run_sql(databases.server.admin_url, f"ALTER DATABASE {name} CONNECTION LIMIT {limit}")
        for _ in range(30):
            age(engine, before)
            assert two(uow) == before
        run_sql(databases.server.admin_url, f"ALTER DATABASE {name} CONNECTION LIMIT -1")
        assert two(uow) == before  # it is not asked again at once
        age(engine, before)
        assert not two(uow) & before
        engine.dispose()


def test_one_session_of_a_process_is_renewed_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them may be old at once, after a quiet hour, and the server has few places."""
    engine = make_engine(world.uow.engine.url.render_as_string(hide_password=False), pool_size=2)
    uow, opened, go_on = UnitOfWork(engine), threading.Event(), threading.Event()
    before, connect = two(uow), psycopg2.connect

    def slowly(*given: object, **named: object) -> object:
        opened.set()
        assert go_on.wait(30)
        return connect(*given, **named)

    age(engine, before)
    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as thread:
        patch.setattr(psycopg2, "connect", slowly)
        renewed = thread.submit(pid, uow)
        try:
            assert opened.wait(30)
            kept = pid(uow)  # the other one
        finally:
            go_on.set()
        assert renewed.result() not in before
    assert kept in before
    assert not two(uow) & before
    engine.dispose()


def two(uow: UnitOfWork) -> set[int]:
    with uow.begin() as a, uow.begin() as b:
        return {int(tx.run(PID).scalar_one()) for tx in (a, b)}


def age(engine: Engine, sessions: set[int]) -> None:
    """Let idle sessions of a pool be old."""
    records = [engine.raw_connection() for _ in sessions]
    for record in records:
        assert record.get_backend_pid() in sessions  # type: ignore[attr-defined]
        record.info[RENEWED_AT] = time.monotonic()
    for record in records:
        record.close()
