"""Private servers of one run: PostgreSQL, Redis and RabbitMQ, in a temporary folder and on free ports."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2
from durable_harness.postgres import PostgresServer

START_SECONDS = 60.0
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # what Debian's wrapper, which insists on its user, runs


@dataclass(frozen=True)
class Broker:
    """A server that runs.  url: for Celery."""

    url: str
    pid: int


class Postgres(PostgresServer):
    """A server with fsync and synchronous_commit on, and 256 MB of shared buffers."""

    def __init__(self) -> None:
        super().__init__(fsync="on", shared_buffers="256MB")

    @property
    def version(self) -> str:
        """As PostgreSQL spells it."""
        [(version,)] = self.run("SHOW server_version")
        return str(version).split()[0]

    @property
    def pid(self) -> int:
        """Of the process that all others of the server descend from."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def run(
        self, statement: str, parameters: Sequence[object] | None = None, *, database: str = "postgres"
    ) -> list[tuple[Any, ...]]:
        """Execute one statement, a transaction of its own.  -> its rows."""
        with closing(psycopg2.connect(self.url(database))) as connection, connection.cursor() as cursor:
            connection.autocommit = True
            cursor.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run it until the end of the block."""
    server = Postgres()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@contextmanager
def redis(folder: Path) -> Iterator[Broker | None]:
    """Run it with its defaults.  -> None when it is not installed."""
    program = shutil.which("redis-server")
    if program is None:
        yield None
        return
    port = free_port()
    folder.mkdir()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with _running(command, folder, port, {}) as pid:
        yield Broker(f"redis://127.0.0.1:{port}/0", pid)


@contextmanager
def rabbitmq(folder: Path) -> Iterator[Broker | None]:
    """Run it with its defaults and an epmd of its own.  -> None when it is not installed."""
    epmd = shutil.which("epmd")
    if epmd is None or not RABBITMQ.exists():
        yield None
        return
    port, names, distribution = free_port(), free_port(), free_port()
    folder.mkdir()
    settings = {
        "HOME": str(folder), "ERL_EPMD_PORT": str(names), "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": "bench@localhost",
        "RABBITMQ_NODE_PORT": str(port), "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1", "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"), "RABBITMQ_CONF_ENV_FILE": os.devnull,
        "RUNNING_UNDER_SYSTEMD": "1",  # the script becomes the server, so its pid is the server's
        "RABBITMQ_CONFIG_FILE": str(folder / "none"), "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
    }  # fmt: skip
    with (
        _running([epmd, "-address", "127.0.0.1"], folder, names, settings),
        _running([str(RABBITMQ)], folder, port, settings) as pid,
    ):
        yield Broker(f"amqp://guest:guest@127.0.0.1:{port}//", pid)


@contextmanager
def _running(command: list[str], folder: Path, port: int, settings: dict[str, str]) -> Iterator[int]:
    with (folder / "out").open("ab") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | settings, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip
    try:
        _await_port(port, process)
        yield process.pid
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} did not start")


def free_port() -> int:
    """Choose a port of 127.0.0.1 that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
