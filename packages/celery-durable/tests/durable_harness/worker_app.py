"""The Celery app that real worker processes run in the tests of the broker.

Every start and end of a task is a row of `runs`, written by the child that runs it.
"""

import os
import signal
import threading
import time
from contextlib import closing
from typing import Any

import celery_durable  # noqa: F401  registers the transport
import psycopg2
from celery import Celery
from celery.worker.consumer.gossip import Gossip
from celery.worker.consumer.mingle import Mingle
from kombu import Queue
from kombu.common import Broadcast

from durable_harness.waiting import wait_for

URL = os.environ["BROKER_TEST_URL"]

app = Celery("worker_app", broker=f"durable+{URL}")
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result="CELERY_RESULT_BACKEND" not in os.environ,
    worker_send_task_events=False,
    worker_hijack_root_logger=False,
    worker_enable_remote_control=os.environ.get("BROKER_TEST_REMOTE") == "1",
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    task_default_queue="main",
    worker_prefetch_multiplier=int(os.environ.get("BROKER_TEST_MULTIPLIER", "4")),
    broker_transport_options={
        "lease_seconds": float(os.environ.get("BROKER_TEST_LEASE", "15")),
        "heartbeat_seconds": float(os.environ.get("BROKER_TEST_HEARTBEAT", "1")),
        "listen": os.environ.get("BROKER_TEST_LISTEN", "1") == "1",
        "max_deliveries": 3,
        "queue_order": os.environ.get("BROKER_TEST_ORDER", "round_robin"),
    },
)


if os.environ.get("BROKER_TEST_REMOTE") == "1":
    app.conf.task_queues = [Queue("main"), Broadcast("everywhere")]
if os.environ.get("BROKER_TEST_NEIGHBOURS") == "1":  # Celery itself asks for amqp or redis
    Mingle.compatible_transports = Gossip.compatible_transports = {"postgresql"}


_sessions: dict[tuple[int, int], Any] = {}


def write(statement: str, parameters: tuple[Any, ...]) -> None:
    """In a transaction of its own, on this thread's connection, again when that is gone."""
    mine = (os.getpid(), threading.get_ident())
    for attempt in range(2):
        try:
            if mine not in _sessions:
                _sessions[mine] = psycopg2.connect(URL)
            with _sessions[mine] as connection, connection.cursor() as cursor:
                cursor.execute(statement, parameters)
                return
        except (psycopg2.OperationalError, psycopg2.InterfaceError):
            _sessions.pop(mine, None)
            if attempt:
                raise


def read(statement: str) -> list[Any]:
    """The rows that a session of its own finds."""
    with closing(psycopg2.connect(URL)) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def note(task: Any, what: str) -> None:
    """Write down that it starts or ends; a start also marks the delivery as started, as a consumer should."""
    request = task.request
    write(
        "WITH marked AS (UPDATE broker_message SET started_at = clock_timestamp() WHERE task_id = %s AND lease_token = %s AND %s)"
        " INSERT INTO runs (task_id, what, pid, retry_count, snooze_count, lost_count) VALUES (%s, %s, %s, %s, %s, %s)",
        (request.id, request.lease_token, what == "start",
         request.id, what, os.getpid(), request.retry_count, request.snooze_count, request.lost_count),
    )  # fmt: skip


@app.task
def nothing() -> None:
    pass


@app.task(bind=True)
def work(self: Any, seconds: float = 0) -> None:
    note(self, "start")
    time.sleep(seconds)
    note(self, "end")


@app.task(bind=True)
def held(self: Any) -> None:
    """Run until the test writes a row that releases it."""
    note(self, "start")
    wait_for(lambda: read("SELECT 1 FROM runs WHERE what = 'release'"), "the test's release")
    note(self, "end")


@app.task(bind=True)
def nap(self: Any, seconds: float) -> None:
    """Sleep through a time without a database, however long it takes to start again."""
    note(self, "start")
    time.sleep(seconds)
    while True:
        try:
            note(self, "end")
        except psycopg2.OperationalError:
            time.sleep(0.1)
        else:
            return


@app.task(bind=True, max_retries=None)
def retried(self: Any, times: int, countdown: float = 0, *, snooze: bool = False) -> None:
    note(self, "start")
    done = self.request.snooze_count if snooze else self.request.retry_count
    if done < times:
        raise self.retry(countdown=countdown, snooze=snooze)
    note(self, "end")


@app.task(bind=True, max_retries=None)
def parked(self: Any) -> None:
    """At the limit the first time."""
    note(self, "start")
    if self.request.id == "ann0" and not self.request.snooze_count:
        raise self.retry(park=True, countdown=60)
    note(self, "end")


@app.task(bind=True)
def dies(self: Any, losses: int) -> None:
    """Kill the child until so many deliveries are lost."""
    note(self, "start")
    if self.request.lost_count < losses:
        os.kill(os.getpid(), signal.SIGKILL)
    note(self, "end")
