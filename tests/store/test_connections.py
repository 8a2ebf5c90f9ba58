"""What the pool gives out works, and what it takes back is outside of any transaction."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg2
import pytest
from durable_harness.postgres import PostgresServer
from durable_harness.proxy import Proxy
from durable_harness.standby import query
from psycopg2.extensions import TRANSACTION_STATUS_IDLE
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from app import process_metrics
from app.store.core.connections import make_engine
from app.store.core.deadlines import WatchedConnection, watched
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World
from tests.tiers import few

PID = text("SELECT pg_backend_pid()")
END = text("SELECT pg_terminate_backend(:pid)")
WRITE = text("INSERT INTO rate_buckets (key, tokens, refilled_at) VALUES (:key, 1, now())")
WRITTEN = "SELECT count(*) FROM rate_buckets"


@pytest.fixture
def one(world: World) -> Iterator[UnitOfWork]:
    """Transactions on a pool of one connection."""
    engine = make_engine(world.uow.engine.url.render_as_string(hide_password=False), pool_size=1)
    yield UnitOfWork(engine)
    engine.dispose()


def pid(uow: UnitOfWork) -> int:
    with uow.begin() as tx:
        return int(tx.run(PID).scalar_one())


def is_idle(engine: Engine) -> bool:
    pooled = engine.raw_connection()
    try:
        return bool(pooled.info is not None and pooled.get_transaction_status() == TRANSACTION_STATUS_IDLE)  # type: ignore[attr-defined]
    finally:
        pooled.close()


@pytest.mark.proof
@pytest.mark.parametrize("mode", few(1, ["fast", "immediate"]))
def test_a_restart_of_the_server_is_invisible_to_the_next_transaction_on_each_connection(mode: str) -> None:
    server = PostgresServer()
    try:
        server.start()
        engine = make_engine(server.url().replace("postgresql:", "postgresql+psycopg2:"), pool_size=3)
        uow = UnitOfWork(engine)

        def three() -> set[int]:
            with uow.begin() as a, uow.begin() as b, uow.begin() as c:
                return {int(tx.run(PID).scalar_one()) for tx in (a, b, c)}

        before = three()
        assert three() == before
        server.stop(mode)
        server.start()
        after = three()
        assert (len(before | after), three()) == (6, after)
        engine.dispose()
    finally:
        server.remove()


@pytest.mark.proof
def test_a_server_that_is_away_is_an_error_of_the_database_and_once_it_is_back_all_is_well() -> None:
    server = PostgresServer()
    try:
        server.start()
        engine = make_engine(server.url().replace("postgresql:", "postgresql+psycopg2:"), pool_size=1)
        before = pid(UnitOfWork(engine))
        server.stop()
        for _ in range(3):
            with pytest.raises(DBAPIError, match="refused"):
                pid(UnitOfWork(engine))
        server.start()
        assert pid(UnitOfWork(engine)) != before
        engine.dispose()
    finally:
        server.remove()


def test_a_session_that_an_operator_ended_is_replaced(world: World, one: UnitOfWork) -> None:
    ended = pid(one)
    assert world.value("SELECT pg_terminate_backend(:pid)", pid=ended)
    while world.value("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid", pid=ended):
        pass
    assert pid(one) != ended


def test_a_connection_lost_inside_of_a_transaction_says_so_and_is_replaced(world: World, one: UnitOfWork) -> None:
    ended = pid(one)

    def lose() -> None:
        with one.begin() as tx:
            tx.run(WRITE, key="lost")
            with world.uow.begin() as other:
                other.run(END, pid=ended)
            tx.run(PID)

    with pytest.raises(DBAPIError) as lost:
        lose()
    assert lost.value.connection_invalidated
    assert pid(one) != ended
    assert world.value(WRITTEN) == 0


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, GeneratorExit, LookupError])
def test_whatever_interrupts_a_transaction_it_is_undone_before_the_pool_has_its_connection_back(
    world: World, one: UnitOfWork, interruption: type[BaseException]
) -> None:
    before = pid(one)

    def interrupted() -> None:
        with one.begin() as tx:
            tx.run(WRITE, key="undone")
            raise interruption

    with pytest.raises(interruption):
        interrupted()
    assert is_idle(one.engine)
    assert (pid(one), world.value(WRITTEN)) == (before, 0)


def test_a_transaction_that_failed_is_undone_before_the_pool_has_its_connection_back(
    world: World, one: UnitOfWork
) -> None:
    before = pid(one)

    def fail() -> None:
        with one.begin() as tx:
            tx.run(WRITE, key="undone")
            tx.run(text("SELECT 1 / 0"))

    with pytest.raises(DBAPIError, match="division by zero"):
        fail()
    assert is_idle(one.engine)
    assert (pid(one), world.value(WRITTEN)) == (before, 0)


def test_a_connection_serves_sqlalchemys_own_transactions_between_ours(world: World, one: UnitOfWork) -> None:
    before = pid(one)
    with one.engine.connect() as connection:
        connection.execute(WRITE, {"key": "undone"})
        connection.rollback()
        connection.execute(WRITE, {"key": "done"})
        connection.commit()
    assert (pid(one), world.value(WRITTEN)) == (before, 1)


def test_an_error_tells_the_statements_and_none_of_their_parameters(one: UnitOfWork) -> None:
    def fail() -> None:
        with one.begin() as tx:
            tx.write(text("SELECT CAST(:secret AS text)"), secret="of somebody")
            tx.run(text("SELECT CAST(:secret AS text), 1 / 0"), secret="of another")

    with pytest.raises(DBAPIError) as raised:
        fail()
    assert "SELECT CAST(%(secret)s AS text), 1 / 0" in str(raised.value)
    assert "of somebody" not in str(raised.value)
    assert "of another" not in str(raised.value)


def test_what_is_done_once_is_committed_and_is_one_message(world: World, one: UnitOfWork) -> None:
    with one.once() as tx:
        tx.run(WRITE, key="done")
    with one.once() as tx:
        tx.run(WRITE, key="done too")
        with pytest.raises(RuntimeError, match="a second one"):
            tx.run(WRITE, key="not done")
    assert world.value(WRITTEN) == 2


@pytest.mark.parametrize("wrong", ["SELEC 1", "SELECT %(missing)s", "SELECT 1 /"])
def test_nothing_is_done_outside_of_the_transaction_whose_beginning_failed(
    world: World, one: UnitOfWork, wrong: str
) -> None:
    def go_on() -> None:
        with one.begin() as tx:
            with contextlib.suppress(DBAPIError, KeyError):
                tx.connection.exec_driver_sql(wrong)
            tx.run(WRITE, key="alone")

    with pytest.raises(RuntimeError, match="no transaction"):
        go_on()
    assert world.value(WRITTEN) == 0


@pytest.mark.parametrize("end", [WatchedConnection.commit, WatchedConnection.rollback], ids=["commit", "rollback"])
def test_a_replica_that_falls_silent_when_psycopg2_ends_a_transaction_is_given_up(
    world: World, end: Callable[[WatchedConnection], None]
) -> None:
    """SQLAlchemy ends its first questions to a new server so, and all threads that want a connection wait for that."""
    url = world.uow.engine.url
    proxy = Proxy(url.port or 5432)
    proxy.start()
    address = url.set(drivername="postgresql", port=proxy.port).render_as_string(hide_password=False)
    connection = psycopg2.connect(address, connection_factory=watched(1))
    never = threading.Timer(30, proxy.thaw)  # only a defect waits for it
    try:
        connection.answer_seconds = 60
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        proxy.freeze()
        never.start()
        connection.answer_seconds = 0.1
        with pytest.raises(psycopg2.OperationalError):
            end(connection)
        assert connection.closed
    finally:
        never.cancel()
        proxy.thaw()
        proxy.close()


@pytest.mark.parametrize("kind", ["is_replica", "has_to_answer"])
def test_a_server_has_to_answer_only_where_statements_have_a_time_limit(world: World, kind: str) -> None:
    """Without one a silent server was waited for without an end once a statement had begun."""
    url = world.uow.engine.url.render_as_string(hide_password=False)
    with pytest.raises(ValueError, match="time limit"):
        make_engine(url, **{kind: True})


@pytest.mark.proof
def test_a_commit_that_waits_for_a_standby_is_waited_for_however_long_it_takes() -> None:
    """Given up, it would be made all the same, and its session would go on waiting beside the one in its place."""
    with contextlib.ExitStack() as stack:
        thread = stack.enter_context(ThreadPoolExecutor(1))
        server = PostgresServer(synchronous_standby_names="away")
        stack.callback(server.remove)
        server.start()
        url = server.url().replace("postgresql:", "postgresql+psycopg2:")
        engine = make_engine(url, statement_seconds=10, has_to_answer=True)
        stack.callback(engine.dispose)
        uow = UnitOfWork(engine)

        def write() -> None:
            with uow.begin() as tx:
                tx.run(text("SET LOCAL statement_timeout = 0"))
                tx.run(text("CREATE TABLE written ()"))

        written = thread.submit(write)
        waiting = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'"
        while not query(server, waiting):
            assert not written.done()
        with pytest.raises(DBAPIError) as later, uow.once() as tx:
            tx.run(text("SET LOCAL statement_timeout = 0; SELECT pg_sleep(60)"))
        assert later.value.connection_invalidated  # it is given up
        assert not written.done()
        query(server, "ALTER SYSTEM SET synchronous_standby_names = ''")
        query(server, "SELECT pg_reload_conf()")
        written.result(timeout=30)
        assert query(server, "SELECT 1 FROM pg_tables WHERE tablename = 'written'")


def test_connections_of_all_pools_of_a_process_are_counted_together(one: UnitOfWork, world: World) -> None:
    before = in_use()
    with one.begin() as first, world.uow.begin() as second:
        first.run(PID)
        second.run(PID)
        assert in_use() == before + 2
    assert in_use() == before


def in_use() -> float:
    return process_metrics.pool_in_use._value.get()  # type: ignore[no-any-return]  # it has no public way to read a value
