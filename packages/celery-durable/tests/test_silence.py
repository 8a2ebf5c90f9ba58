"""A pooler that accepts and is silent: the node's loop goes on, and so do its signals and its children."""

import socket
from collections.abc import Iterator

import psutil
import psycopg2
import pytest
from celery_durable import async_database
from celery_durable.async_database import AsyncDatabase, DeadlineDatabase
from durable_harness.broker import Broker, Worker
from durable_harness.proxy import Proxy
from durable_harness.waiting import wait_for
from sqlalchemy.engine import make_url

#: Of a machine that is busy, beyond the time-outs themselves.
PATIENCE_SECONDS = 90


@pytest.fixture
def proxy(broker: Broker) -> Iterator[Proxy]:
    proxy = Proxy(broker.server.port)
    proxy.start()
    yield proxy
    proxy.thaw()
    proxy.close()


def through(broker: Broker, proxy: Proxy) -> str:
    return make_url(broker.url).set(port=proxy.port).render_as_string(hide_password=False)


@pytest.fixture
def worker(broker: Broker, proxy: Proxy) -> Worker:
    """One whose node has asked the silent pooler for something, and waits."""
    worker = broker.worker("-c", "1", BROKER_TEST_URL=through(broker, proxy))
    broker.send("work", 0)
    wait_for(lambda: broker.left() == 0, seconds=PATIENCE_SECONDS)
    proxy.freeze()
    assert proxy.withheld.wait(60), "the node said nothing"
    return worker


@pytest.mark.proof
def test_a_worker_stops_that_waits_for_a_silent_pooler(worker: Worker) -> None:
    worker.process.terminate()
    assert worker.process.wait(PATIENCE_SECONDS) == 0


@pytest.mark.proof
def test_a_dead_child_is_replaced_while_the_pooler_is_silent_and_work_goes_on_when_it_speaks(
    broker: Broker, proxy: Proxy, worker: Worker
) -> None:
    (child,) = psutil.Process(worker.process.pid).children()
    child.kill()
    wait_for(lambda: child.pid not in pids(worker) and pids(worker), seconds=PATIENCE_SECONDS)
    proxy.thaw()
    broker.send("work", 0)
    wait_for(lambda: broker.left() == 0, seconds=PATIENCE_SECONDS)


def test_an_answer_that_does_not_come_is_given_up_with_its_session(
    broker: Broker, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = DeadlineDatabase(through(broker, proxy))
    assert database.run("SELECT 1") == [(1,)]
    proxy.freeze()
    with monkeypatch.context() as patch:
        patch.setattr(async_database, "ANSWER_SECONDS", 0.3)
        with pytest.raises(psycopg2.OperationalError, match="no answer"):
            database.run("SELECT 2")
    assert not database.is_open
    proxy.thaw()
    assert database.run("SELECT 3") == [(3,)]
    database.close()


@pytest.mark.proof
@pytest.mark.parametrize("within", ["", "?connect_timeout=2"], ids=["argument", "URL"])
def test_a_connection_that_is_accepted_and_not_answered_is_given_up(within: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x{within}"
        database = DeadlineDatabase(url, connect_timeout=600 if within else 2)
        with pytest.raises(psycopg2.OperationalError, match="no answer for 2 s"):
            database.run("SELECT 1")


@pytest.mark.parametrize("wrong", ["soon", "-1", "1.5"])
def test_a_wait_for_a_connection_that_is_no_number_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected a whole number of seconds"):
        DeadlineDatabase(f"postgresql://x@127.0.0.1/x?connect_timeout={wrong}")


def test_what_is_under_way_is_overdue_after_a_while(
    broker: Broker, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = AsyncDatabase(through(broker, proxy))
    opened = getattr(database, "open", lambda: database.run("SELECT 1"))
    opened()
    database.check()
    proxy.freeze()
    failures: list[bool] = []
    database.start("SELECT 2", {}, lambda _: None, lambda: failures.append(True))
    database.check()
    monkeypatch.setattr(async_database, "ANSWER_SECONDS", 0.0)
    with pytest.raises(psycopg2.OperationalError, match="no answer"):
        database.check()
    assert failures == [True]
    database.close()


def test_a_nodes_session_waits_for_no_lock_and_no_statement_for_ever(broker: Broker) -> None:
    with broker.kombu() as connection:
        channel = connection.default_channel
        node = channel.connection.host()
        shown = "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')"
        assert node.session.run(shown, None) == [("2s", "10s")]


def pids(worker: Worker) -> list[int]:
    return [child.pid for child in psutil.Process(worker.process.pid).children()]
