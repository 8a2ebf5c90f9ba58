"""What Celery's settings say of the broker: TLS, one URL or several, and the short name of the transport."""

import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from celery import Celery
from celery_durable import BadOption, schema
from celery_durable.addresses import reveal
from celery_durable.database import connect_arguments
from durable_harness.broker import Broker
from durable_harness.postgres import PACKAGED, PackagedServer
from durable_harness.strict_postgres import certificate
from durable_harness.versions import needs_credential_provider
from durable_harness.waiting import wait_for
from kombu import Connection

URL = "durable+postgresql://me@h/shop"
SESSIONS = """
    SELECT s.pid, coalesce(t.ssl, false), t.client_dn FROM pg_stat_activity AS s LEFT JOIN pg_stat_ssl AS t USING (pid)
     WHERE s.application_name = 'durable-broker'"""


def arguments(url: str = URL, **options: Any) -> list[dict[str, Any]]:
    """What psycopg2 gets for each kind of session."""
    with Connection(url, **options) as connection:
        copied = connection.clone()
        node = connection.transport.Channel(connection.transport).node
        databases = [connection.transport.database, node.session._database, node._heart_database]
        return [database._arguments for database in (*databases, copied.transport.database)]


def words(given: Any, url: str = URL) -> dict[str, str]:
    """libpq's words for TLS, the same in all sessions."""
    first, *others = [{k: v for k, v in one.items() if k.startswith("ssl")} for one in arguments(url, ssl=given)]
    assert all(other == first for other in others)
    return first


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (False, {}),
        (True, {"sslmode": "require"}),
        ({"cert_reqs": ssl.CERT_NONE}, {"sslmode": "require"}),
        ({"ssl_cert_reqs": "none", "ssl_ca_certs": "/ca"}, {"sslmode": "require"}),
        ({"ssl_cert_reqs": "CERT_REQUIRED"}, {"sslmode": "verify-full", "sslrootcert": "system"}),
        ({"cert_reqs": ssl.CERT_REQUIRED, "ca_certs": "/ca"}, {"sslmode": "verify-full", "sslrootcert": "/ca"}),
        ({"ca_certs": Path("/ca")}, {"sslmode": "verify-full", "sslrootcert": "/ca"}),
        ({"ssl_ca_certs": "/ca", "ssl_check_hostname": False}, {"sslmode": "verify-ca", "sslrootcert": "/ca"}),
        (
            {"certfile": "/crt", "keyfile": "/key", "ca_certs": "/ca", "cert_reqs": ssl.CERT_OPTIONAL},
            {"sslmode": "verify-full", "sslrootcert": "/ca", "sslcert": "/crt", "sslkey": "/key"},
        ),
        ({"ssl_certfile": "/both"}, {"sslmode": "require", "sslcert": "/both", "sslkey": "/both"}),
    ],
)
def test_what_broker_use_ssl_asks_for_is_said_in_each_session(given: Any, expected: dict[str, str]) -> None:
    assert words(given) == expected


def test_the_url_may_ask_for_more_than_broker_use_ssl() -> None:
    assert words(True, f"{URL}?sslmode=verify-full") == {"sslmode": "verify-full"}
    assert words({"ca_certs": "/ca"}, f"{URL}?sslmode=verify-full&sslrootcert=/ca")["sslrootcert"] == "/ca"
    assert words({"cert_reqs": "required"}, f"{URL}?sslrootcert=/ca")["sslrootcert"] == "/ca"
    assert words(True, "durable://a:1,b:2/shop")["sslmode"] == "require"


@pytest.mark.parametrize(
    ("given", "query", "said"),
    [
        (True, "?sslmode=disable", "means sslmode=require, but the broker URL says sslmode=disable"),
        (True, "?sslmode=prefer", "sslmode=prefer"),
        ({"cert_reqs": ssl.CERT_REQUIRED}, "?sslmode=require", "means sslmode=verify-full, but"),
        ({"cert_reqs": ssl.CERT_NONE}, "?sslmode=verify-full", "means sslmode=require, but"),
        ({"ca_certs": "/ca"}, "?sslrootcert=/other", "means sslrootcert=/ca, but"),
        ({"ca_certs": "/ca", "ssl_ca_certs": "/other"}, "", "says ca_certs and ssl_ca_certs, and not the same"),
        ({"ciphers": "HIGH"}, "", "'ciphers' cannot be translated for PostgreSQL; known are cert_reqs"),
        ({"keyfile": "/key"}, "", "a keyfile needs its certfile"),
        ({"cert_reqs": "maybe"}, "", "cert_reqs must be one of"),
        ({"ca_certs": 7}, "", "ca_certs must be a path"),
        ({"check_hostname": False}, "", "check_hostname False needs ca_certs"),
        ({"check_hostname": "no", "ca_certs": "/ca"}, "", "check_hostname must be True or False"),
        ({}, "", "must be True, or a dict"),
        ("yes", "", "must be True, or a dict"),
    ],
)
def test_what_cannot_be_translated_or_is_denied_by_the_url_is_refused(given: Any, query: str, said: str) -> None:
    with pytest.raises(BadOption, match=said):
        words(given, URL + query)


def test_a_direct_url_gets_the_same_words_or_is_refused() -> None:
    options = {"direct_url": "postgresql://direct/shop"}
    assert [one["sslmode"] for one in arguments(ssl=True, transport_options=options)] == ["require"] * 4
    with pytest.raises(BadOption, match="sslmode=disable"):
        arguments(ssl=True, transport_options={"direct_url": "postgresql://direct/shop?sslmode=disable"})


@pytest.mark.proof
def test_a_server_without_tls_is_not_written_to_when_tls_is_asked_for(broker: Broker) -> None:
    app = Celery(set_as_current=False, broker=f"durable+{broker.url}")
    app.conf.update(broker_use_ssl=True, task_publish_retry=False, task_ignore_result=True)
    with pytest.raises(Exception, match="server does not support SSL"):
        app.send_task("nothing", queue="main", retry=False)
    app.close()
    assert broker.left() == 0


class TlsServer(PackagedServer):
    """It takes sessions with TLS and a client's certificate only, as the user `postgres`."""

    def __init__(self, certificate: tuple[Path, Path]) -> None:
        super().__init__(ssl="on", ssl_cert_file="crt", ssl_key_file="key", ssl_ca_file="crt", max_connections="40")
        for file, name in zip(certificate, ("crt", "key"), strict=True):
            (self.data / name).write_bytes(file.read_bytes())
            (self.data / name).chmod(0o600)
            if self._account:
                os.chown(self.data / name, self._account, -1)
        (self.data / "pg_hba.conf").write_text("hostssl all all all trust clientcert=verify-ca\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def tls(files: tuple[Path, Path]) -> Iterator[TlsServer]:
    if not PACKAGED:
        pytest.skip("no PostgreSQL that is built with TLS is installed")
    server = TlsServer(files)
    try:
        server.start()
        yield server
    finally:
        server.remove()


APP = """
import signal
import ssl
import celery_durable
from celery import Celery

app = Celery("secure", broker="durable+{url}")
app.conf.update(
    broker_use_ssl={{"ca_certs": "{crt}", "certfile": "{crt}", "keyfile": "{key}", "cert_reqs": ssl.CERT_REQUIRED}},
    broker_transport_options={{"heartbeat_seconds": 0.1}}, task_acks_late=True, task_ignore_result=True,
)

@app.task(bind=True)
def holds(self):
    self.app.send_task("secure.unknown", queue="elsewhere")  # a session of the process
    signal.pause()  # until the test ends the worker
"""


@pytest.fixture
def admin(tls: TlsServer, files: tuple[Path, Path]) -> Iterator[Any]:
    """A session with TLS, and the tables."""
    crt, key = map(str, files)
    with closing(psycopg2.connect(tls.url(), sslmode="require", sslcert=crt, sslkey=key)) as connection:
        connection.autocommit = True
        schema.upgrade(connection)
        yield connection


@pytest.fixture
def celery(tls: TlsServer, files: tuple[Path, Path], admin: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts Celery's command in an application that asks for TLS; it ends with the test."""
    crt, key = files
    url = tls.url().replace("127.0.0.1", "localhost")
    (tmp_path / "secure.py").write_text(APP.format(url=url, crt=crt, key=key))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BROKER_TEST")}
    started = []

    def start(*arguments: str) -> "subprocess.Popen[bytes]":
        argv = [sys.executable, "-m", "celery", "-A", "secure", *arguments]
        with (tmp_path / "log").open("ab") as log:
            started.append(
                subprocess.Popen(argv, cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True)
            )
        return started[-1]

    yield start
    for one in started:
        with suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
        one.wait()


@pytest.mark.proof
def test_a_server_that_demands_tls_refuses_a_session_without(tls: TlsServer) -> None:
    with pytest.raises(psycopg2.OperationalError, match="no encryption"):
        psycopg2.connect(tls.url(), sslmode="disable")


def test_each_session_of_a_publisher_a_node_its_heart_and_its_process_has_tls(admin: Any, celery: Any) -> None:
    celery("worker", "-c", "1", "-l", "info")
    assert celery("call", "secure.holds").wait(timeout=60) == 0

    def found() -> list[tuple[Any, ...]]:
        with admin.cursor() as cursor:
            cursor.execute(SESSIONS)
            return list(cursor.fetchall())

    # The node's, its heart's, and that of the process that publishes.
    wait_for(lambda: len(found()) >= 3, "three sessions")
    assert {(has_tls, name) for _, has_tls, name in found()} == {(True, "/CN=localhost")}


@pytest.mark.parametrize(
    "url",
    [
        "durable+postgresql://me:hush@a/shop;durable+postgresql://me:hush@b/shop",
        "durable://me:hush@a/shop;durable://me:hush@b/shop",
        "durable+postgresql://me:hush@a/shop;b",
        ["durable+postgresql://me:hush@a/shop", "durable+postgresql://me:hush@b/shop"],
    ],
)
def test_several_urls_are_refused_with_the_form_that_works(url: Any) -> None:
    app = Celery(set_as_current=False, broker=url)
    for act in (app.connection().ensure_connection, lambda: app.send_task("nothing"), app.connection().as_uri):
        with pytest.raises(BadOption, match=r"\?host=a&host=b&target_session_attrs=read-write, or") as caught:
            act()
        assert "a:5432,b:5432" in str(caught.value)
        assert "hush" not in str(caught.value)
    app.close()


def test_a_list_of_one_url_is_that_url(broker: Broker) -> None:
    with Connection([f"durable+{broker.url}"]) as connection:
        connection.Producer().publish({}, routing_key="main")
        assert (connection.alt, connection.cycle) == ([], None)
        connection.maybe_switch_next()
        connection.Producer().publish({}, routing_key="main")
    assert broker.left() == 2


def test_a_url_that_kombu_has_taken_apart_is_refused_with_the_form_that_works(broker: Broker) -> None:
    with Connection(f"durable+{broker.url}") as connection:
        connection.switch(f"durable+{broker.url}")
        with pytest.raises(BadOption, match="needs one URL, such as durable://me@host/shop"):
            connection.ensure_connection()


@pytest.mark.parametrize(
    "name", ["userid", "password", "port", pytest.param("credential_provider", marks=needs_credential_provider)]
)
def test_what_would_have_no_effect_beside_the_url_is_refused(name: str) -> None:
    with Connection(URL, **{name: 7}) as connection, pytest.raises(BadOption, match=f"'{name}' is given beside it"):
        connection.ensure_connection()


@pytest.mark.parametrize("prefix", ["durable", "durable+postgresql", "durable+postgresql+psycopg2", "durable+postgres"])
def test_each_name_of_the_transport_reaches_the_server(broker: Broker, prefix: str) -> None:
    url = f"{prefix}{broker.url.removeprefix('postgresql')}"
    with Connection(url) as connection:
        connection.Producer().publish({"by": prefix}, routing_key="letters")
        with connection.SimpleQueue("letters") as queue:
            message = queue.get(timeout=60)
            message.ack()
        assert connection.as_uri() == url
        assert connection.clone().as_uri() == url
    assert message.payload == {"by": prefix}


def test_the_short_name_takes_passwords_and_several_hosts() -> None:
    url = "durable://me:hush@a:1,b:2/shop?target_session_attrs=read-write"
    with Connection(url) as connection:
        given = connect_arguments(reveal(connection.transport.url))
        assert "hush" not in repr([connection.as_uri(include_password=True), connection.info(), connection])
    assert (given["user"], given["password"], given["host"], given["port"]) == ("me", "hush", "a,b", "1,2")
