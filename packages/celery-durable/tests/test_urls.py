"""Broker URLs: TLS, passwords that need quoting, IPv6, sockets, several hosts; and no password where people read."""

import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from durable_harness.broker import Broker, Worker
from durable_harness.postgres import PostgresServer, _free_port
from durable_harness.proxy import Proxy
from durable_harness.standing import TASKS, Standing, standing
from durable_harness.strict_postgres import PASSWORD, StrictServer, certificate
from durable_harness.waiting import wait_for
from kombu import Connection

ONCE = {"max_retries": 1, "interval_start": 0}

Url = Callable[[str], str]


@pytest.fixture(scope="module")
def strict() -> Iterator[StrictServer]:
    server = StrictServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def broker(strict: StrictServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(strict, tmp_path_factory.mktemp("urls")) as broker:
        broker.query("CREATE ROLE painter LOGIN SUPERUSER PASSWORD %s", PASSWORD)
        broker.query("CREATE ROLE guest LOGIN SUPERUSER")
        yield broker


@pytest.fixture(scope="module")
def crt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def tls(strict: StrictServer, crt: tuple[Path, Path]) -> Iterator[Proxy]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*crt)
    front = Proxy(strict.port, context)
    front.start()
    yield front
    front.close()


@pytest.fixture(scope="module")
def url(broker: Standing, strict: StrictServer, tls: Proxy, crt: tuple[Path, Path]) -> Url:
    """The same database, reached in another way."""
    name = broker.url.rpartition("/")[2]
    login, dead = strict.login(), f"127.0.0.1:{_free_port()}"
    ways = {
        "quoted password": f"{login}@127.0.0.1:{strict.port}/{name}",
        "no password": f"guest@127.0.0.1:{strict.port}/{name}",
        "IPv6": f"{login}@[::1]:{strict.port}/{name}",
        "socket": f"{login}@/{name}?host={strict.home}&port={strict.port}",
        "second host": f"{login}@/{name}?host={dead}&host=127.0.0.1:{strict.port}",
        "second host as libpq writes it": f"{login}@{dead},127.0.0.1:{strict.port}/{name}?target_session_attrs=read-write",
        "TLS": f"{login}@localhost:{tls.port}/{name}?sslmode=require",
        "verified TLS": f"{login}@localhost:{tls.port}/{name}?sslmode=verify-full&sslrootcert={crt[0]}",
        "TLS for another name": f"{login}@127.0.0.1:{tls.port}/{name}?sslmode=verify-full&sslrootcert={crt[0]}",
        "TLS by nobody": f"{login}@localhost:{tls.port}/{name}?sslmode=verify-full&sslrootcert=/dev/null",
        "no TLS where it is asked for": f"{login}@127.0.0.1:{strict.port}/{name}?sslmode=require",
        "no TLS where it is demanded": f"{login}@127.0.0.1:{tls.port}/{name}?sslmode=disable",
        "wrong password": f"{strict.login('hush')}@127.0.0.1:{strict.port}/{name}",
        "password in the query": f"127.0.0.1:{strict.port}/{name}?user=painter&password={strict.login()[8:]}",
    }
    return lambda way: f"durable+postgresql+psycopg2://{ways[way]}"


@pytest.fixture
def worker(broker: Standing) -> Iterator[Any]:
    """Starts one with this URL."""
    started = []

    def start(url: str, *, ready: bool = True) -> Worker:
        started.append(broker.worker("-c", "1", "-I", TASKS, ready=ready, CELERY_BROKER_URL=url))
        return started[-1]

    yield start
    for one in started:
        one.clear()


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


GOOD = [
    "quoted password",
    "no password",
    "IPv6",
    "socket",
    "second host",
    "second host as libpq writes it",
    "TLS",
    "verified TLS",
    "password in the query",
]


@pytest.mark.proof
@pytest.mark.parametrize("way", GOOD)
def test_producers_and_consumers_reach_the_server_by(broker: Standing, url: Url, way: str) -> None:
    if way == "IPv6" and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with Connection(url(way)) as connection:
        connection.Producer().publish({"by": way}, routing_key="letters")
        with connection.SimpleQueue("letters") as queue:
            message = queue.get(timeout=60)
            message.ack()
        assert "hush" not in connection.as_uri()
    assert message.payload == {"by": way}


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("no TLS where it is asked for", "server does not support SSL"),
        ("no TLS where it is demanded", "closed the connection"),
        ("TLS for another name", "does not match host name"),
        ("TLS by nobody", "root certificate|certificate verify failed"),
        ("wrong password", "password authentication failed"),
    ],
)
def test_a_connection_is_refused_with_its_reason_and_without_the_password(url: Url, way: str, said: str) -> None:
    with Connection(url(way)) as refused, pytest.raises(Exception, match=said) as caught:
        refused.ensure_connection(**ONCE)
    assert "hush" not in str(caught.getrepr(style="long", showlocals=False))


@pytest.mark.proof
@pytest.mark.parametrize("way", ["verified TLS", "second host as libpq writes it"])
def test_a_worker_runs_tasks_and_survives_a_lost_session_by(broker: Standing, url: Url, worker: Any, way: str) -> None:
    one = worker(url(way))
    before = broker.send("report")
    broker.is_over(before)
    broker.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'durable-broker'")
    after = broker.send("report", retry=True)
    broker.is_over(after)
    assert (len(broker.told(before)), len(broker.told(after))) == (1, 1)
    wait_for(lambda: "event=broker_connection_restored" in one.text)
    assert "hush" not in one.text


def test_a_worker_that_may_not_connect_says_so_without_the_password(url: Url, worker: Any) -> None:
    refused = worker(url("wrong password"), ready=False)
    wait_for(lambda: "password authentication failed" in refused.text)
    assert "painter" in refused.text
    assert "hush" not in refused.text


def test_a_password_in_the_query_is_not_shown_by_a_worker(url: Url, worker: Any) -> None:
    assert "hush" not in worker(url("password in the query")).text


def test_of_several_hosts_the_one_that_takes_writes_is_chosen(
    broker: Standing, strict: StrictServer, server: PostgresServer
) -> None:
    name = broker.url.rpartition("/")[2]
    standby = Broker(server.url(), server, broker.logs, broker.stack)
    standby.query(f"CREATE DATABASE {name}")
    standby.query(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    hosts = f"host=127.0.0.1:{server.port}&host=127.0.0.1:{strict.port}&target_session_attrs=read-write"
    with Connection(f"durable+postgresql://postgres@/{name}?{hosts}") as connection:
        connection.Producer().publish({}, routing_key="chosen")
    assert broker.value("SELECT count(*) FROM kombu_queue WHERE name = 'chosen'") == 1
