"""A database with the broker's tables, and real worker processes on it."""

import os
import signal
import subprocess
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import celery_durable  # noqa: F401  registers the transport
import psycopg2
from celery import Celery
from kombu import Connection, pools

from durable_harness import warm
from durable_harness.postgres import PostgresServer
from durable_harness.waiting import wait_for

#: Where worker processes find their apps.
ROOT = Path(__file__).parents[1]
PREFIX = "durable_harness.worker_app"
#: Celery gives up after four by itself.
CONNECT_SECONDS = 60
#: By its apps, which read their settings when they are imported themselves.
IMPORTS = ("celery.worker.consumer.gossip", "celery.worker.consumer.mingle", "kombu.common", "psycopg2")
RUNS = """
    CREATE TABLE runs (id bigint GENERATED ALWAYS AS IDENTITY, at timestamptz DEFAULT clock_timestamp(),
                       task_id text, what text, pid int, retry_count int, snooze_count int, lost_count int)"""
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")

_numbers = count(1)


@dataclass
class Worker:
    """A worker in a session of its own, so that a signal reaches the whole tree."""

    process: warm.Forked | subprocess.Popen[bytes]
    log: Path

    @property
    def text(self) -> str:
        return self.log.read_text()

    def kill_tree(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(timeout=60)

    def clear(self) -> None:
        with suppress(ProcessLookupError):
            self.kill_tree()


@dataclass
class Broker:
    """One database with the broker's tables."""

    url: str
    server: PostgresServer
    logs: Path
    stack: ExitStack
    app: Celery = field(init=False)

    def __post_init__(self) -> None:
        self.app = Celery(set_as_current=False, broker=f"durable+{self.url}")
        self.app.conf.update(task_ignore_result=True, task_default_queue="main", task_publish_retry=False)
        self.app.conf.broker_connection_timeout = CONNECT_SECONDS
        self.stack.callback(pools.reset)  # kombu keeps them by URL, beyond the app
        self.stack.callback(self.app.close)

    def query(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        connection = self.connect()
        connection.autocommit = True
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, parameters or None)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def value(self, statement: str, *parameters: Any) -> Any:
        return self.query(statement, *parameters)[0][0]

    def connect(self) -> Any:
        return psycopg2.connect(self.url)

    def kombu(self, **options: Any) -> Connection:
        return self.stack.enter_context(self._connection(options))

    def _connection(self, options: dict[str, Any]) -> Connection:
        return Connection(f"durable+{self.url}", transport_options=options, connect_timeout=CONNECT_SECONDS)

    def declare(self, *queues: str, **options: Any) -> None:
        """Make queues, as workers do."""
        with self._connection(options) as connection:
            for queue in queues:
                connection.default_channel.queue_declare(queue)

    def send(self, name: str, *args: Any, **options: Any) -> str:
        return str(self.app.send_task(f"{PREFIX}.{name}", args=args, **options).id)

    def started(self) -> int:
        return int(self.value("SELECT count(*) FROM runs WHERE what = 'start'"))

    def ended(self) -> int:
        return int(self.value("SELECT count(*) FROM runs WHERE what = 'end'"))

    def release(self) -> None:
        """Let `held` tasks end."""
        self.query("INSERT INTO runs (what) VALUES ('release')")

    def left(self) -> int:
        return int(self.value("SELECT count(*) FROM broker_message"))

    def end_sessions(self) -> None:
        """What a failover, or one killed backend, does to everybody."""
        self.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    def worker(self, *arguments: str, ready: bool = True, **environment: str) -> Worker:
        """Start one; -> when it consumes."""
        worker = self.launch(*arguments, **environment)
        self.stack.callback(lambda: print(worker.text))
        self.stack.callback(worker.clear)
        if ready:
            wait_for(lambda: "ready." in worker.text, "a worker that consumes")
        return worker

    def launch(self, *arguments: str, **environment: str) -> Worker:
        """Start one; the caller sees to its end."""
        log = self.logs / f"worker{next(_numbers)}.log"
        log.touch()  # it is read at once
        name = ("-A", PREFIX, "worker", "-l", "info", "-n", f"{log.stem}@test", *QUIET)
        env = os.environ | {"BROKER_TEST_URL": self.url} | environment
        process = warm.start(IMPORTS, warm.Node((*name, *(arguments or ("-c", "2"))), env, ROOT, log))
        return Worker(process, log)
