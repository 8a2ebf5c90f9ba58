"""The transaction itself."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg2.extensions
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from app.store.core import session
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import OvertakenError, UnitOfWork, retried
from tests.conftest import NOW, World


def test_a_server_that_vanished_without_a_word_is_given_up_within_seconds(world: World) -> None:
    with world.uow.engine.connect() as connection:
        given = connection.connection.dbapi_connection.info.dsn_parameters
    assert int(given["tcp_user_timeout"]) <= 20_000
    assert int(given["keepalives_idle"]) + int(given["keepalives_interval"]) * int(given["keepalives_count"]) <= 30


def test_what_the_url_says_of_waiting_for_the_server_holds(world: World) -> None:
    url = world.uow.engine.url.update_query_dict({"connect_timeout": "77", "keepalives_idle": "88"})
    engine = make_engine(url.render_as_string(hide_password=False), pool_size=1)
    with engine.connect() as connection:
        given = connection.connection.dbapi_connection.info.dsn_parameters
    engine.dispose()
    assert (given["connect_timeout"], given["keepalives_idle"], given["keepalives_interval"]) == ("77", "88", "3")


WRITE = text("INSERT INTO schedule_runs (name, slot_at) VALUES (:name, :at)")
NAMES = text("SELECT name FROM schedule_runs WHERE name LIKE :like ORDER BY name")


def names(uow: UnitOfWork) -> list[str]:
    with uow.begin() as tx:
        return list(tx.run(NAMES, like="%").scalars())


@pytest.fixture
def sent(world: World) -> Iterator[list[str]]:
    """What the session that the world uses next sends; grows."""
    told: list[str] = []

    class Cursor(psycopg2.extensions.cursor):
        def execute(self, query: Any, vars: Any = None) -> None:  # noqa: A002 - psycopg2's name
            told.append(query if isinstance(query, str) else query.decode())
            super().execute(query, vars)

    with world.uow.engine.connect() as connection:
        session = connection.connection.dbapi_connection
        session.cursor_factory = Cursor
    told.clear()
    yield told
    session.cursor_factory = None


def test_a_transaction_of_one_statement_and_writes_around_it_is_two_messages(world: World, sent: list[str]) -> None:
    with world.uow.begin() as tx:
        tx.write(WRITE, name="50 %(name)s", at=NOW)
        tx.write(WRITE, name="b", at=NOW)
        assert sent == []
        assert list(tx.run(NAMES, like="%").scalars()) == ["50 %(name)s", "b"]  # which sees what travels with it
        tx.write(WRITE, name="c", at=NOW)
    assert [(message.split(";")[0], message.split(";")[-1].strip()) for message in sent] == [
        ("BEGIN", "SELECT name FROM schedule_runs WHERE name LIKE '%' ORDER BY name"),
        (sent[1].split(";")[0], "COMMIT"),
    ]
    assert names(world.uow) == ["50 %(name)s", "b", "c"]


def test_a_transaction_that_sends_nothing_costs_nothing(world: World, sent: list[str]) -> None:
    with world.uow.begin() as tx:
        tx.flush()
    assert sent == []


def test_writes_that_nothing_follows_are_sent_before_the_commit(world: World) -> None:
    with world.uow.begin() as tx:
        tx.write(WRITE, name="a", at=NOW)
        tx.write(WRITE, name="b", at=NOW)
    assert names(world.uow) == ["a", "b"]


def test_the_error_of_a_write_comes_up_where_it_is_sent_and_undoes_all(world: World) -> None:
    with contextlib.ExitStack() as stack:
        tx = stack.enter_context(world.uow.begin())
        tx.write(WRITE, name="a", at=NOW)
        tx.write(WRITE, name="a", at=NOW)
        with pytest.raises(IntegrityError, match="schedule_runs_pkey"):
            tx.run(NAMES, like="%")
    assert names(world.uow) == []


def test_a_savepoint_undoes_the_writes_inside_of_it_sent_or_not_and_none_before_it(world: World) -> None:
    with world.uow.begin() as tx:
        tx.write(WRITE, name="before", at=NOW)
        with contextlib.suppress(LookupError), tx.savepoint():
            tx.write(WRITE, name="sent", at=NOW)
            tx.run(NAMES, like="%")
            tx.write(WRITE, name="never sent", at=NOW)
            raise LookupError
        with tx.savepoint():
            tx.write(WRITE, name="inside", at=NOW)
        tx.write(WRITE, name="last", at=NOW)
    assert names(world.uow) == ["before", "inside", "last"]


def test_the_writes_of_a_transaction_that_failed_are_not_sent_in_another(world: World) -> None:
    with contextlib.suppress(LookupError), world.uow.begin() as tx:
        tx.write(WRITE, name="lost", at=NOW)
        raise LookupError
    assert names(world.uow) == []


def test_without_pipelining_each_statement_is_a_message(world: World, sent: list[str]) -> None:
    with replace(world.uow, pipelined=False).begin() as tx:
        tx.write(WRITE, name="a", at=NOW)
        assert len(sent) == 2
        tx.run(NAMES, like="%")
    assert (sent[0], len(sent), sent[-1]) == ("BEGIN", 4, "COMMIT")


def test_an_overtaken_use_case_is_done_again_from_the_beginning(world: World) -> None:
    tries: list[str] = []

    @retried
    def use_case() -> str:
        with world.uow.begin() as tx:
            tries.append(f"try {len(tries) + 1}")
            tx.write(WRITE, name=tries[-1], at=NOW)
            if len(tries) == 1:
                raise OvertakenError
            return tries[-1]

    assert use_case() == "try 2"
    assert names(world.uow) == ["try 2"]


def test_a_statement_that_is_made_for_each_call_is_kept_once(world: World) -> None:
    with world.uow.begin() as tx:
        tx.run(text("SELECT 'kept once' AS word"))
        before = session._compiled.cache_info().currsize
        for _ in range(3):
            assert tx.run(text("SELECT 'kept once' AS word")).scalar_one() == "kept once"
    assert session._compiled.cache_info().currsize == before


def test_a_line_of_a_transaction_has_the_time_before_its_commit(world: World) -> None:
    """Whoever sees the commit may write a line at once, which comes later."""
    with capture_logs() as lines:
        with world.uow.begin() as tx:
            tx.log("told")
            before = datetime.now(UTC)
        with contextlib.suppress(LookupError), world.uow.begin() as tx:
            tx.log("undone")
            raise LookupError
    [line] = lines
    assert line["event"] == "told"
    assert datetime.fromisoformat(line["timestamp"]) <= before
