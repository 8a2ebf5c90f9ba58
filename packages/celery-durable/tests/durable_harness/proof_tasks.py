"""Tasks whose effect counts under a valid lease only, in a worker started with `-I durable_harness.proof_tasks`.

Every pass of the fence is a row of `passes`, numbered under the lock of the message's row.
"""

import os
import time
from typing import Any

import psycopg2

from durable_harness.worker_app import URL, app

app.conf.update(
    broker_transport_options=app.conf.broker_transport_options | {"max_deliveries": 10_000},
    # A retry that cannot be published for longer than the policy says is rejected, and then it is a dead letter.
    task_publish_retry_policy={"max_retries": None, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.5},
)

FENCE = "SELECT FROM kombu_message WHERE task_id = %(task_id)s AND lease_token = %(token)s FOR UPDATE"
PASS = """
    INSERT INTO passes (task_id, token, pid, node, what)
    VALUES (%(task_id)s, %(token)s, %(pid)s, %(node)s, %(what)s)"""
START = "UPDATE kombu_message SET started_at = clock_timestamp() WHERE task_id = %(task_id)s"
FINISH = """
    INSERT INTO effects VALUES (%(task_id)s);
    DELETE FROM kombu_message WHERE task_id = %(task_id)s"""
FAULT = "INSERT INTO faults VALUES (%(task_id)s, 'a second effect')"
GONE = (psycopg2.OperationalError, psycopg2.InterfaceError)

_sessions: dict[int, Any] = {}


def session() -> Any:
    """Of this process."""
    if os.getpid() not in _sessions:
        _sessions[os.getpid()] = psycopg2.connect(URL)
    return _sessions[os.getpid()]


def fenced(task: Any, what: str, *, then: str = "") -> bool:
    """In one transaction behind the fence, however often the database goes away.  -> whether the lease was valid."""
    mine = {
        "task_id": task.request.id, "token": task.request.lease_token, "pid": os.getpid(), "node": os.getppid(),
        "what": what,
    }  # fmt: skip
    while True:
        try:
            with session() as connection, connection.cursor() as cursor:
                cursor.execute(FENCE, mine)
                passed = bool(cursor.rowcount)
                if passed:
                    cursor.execute(f"{PASS};{then}", mine)
        except psycopg2.errors.UniqueViolation:
            with session() as connection, connection.cursor() as cursor:
                cursor.execute(FAULT, mine)
            raise
        except GONE:
            _sessions.pop(os.getpid(), None)
            time.sleep(0.05)
        else:
            return passed


@app.task(bind=True, max_retries=None)
def effect(self: Any, seconds: float, retries: int) -> None:
    if not fenced(self, "start", then=START):
        return
    time.sleep(seconds)
    if self.request.retry_count < retries:
        if fenced(self, "retry"):
            raise self.retry(countdown=0.2)
        return
    fenced(self, "end", then=FINISH)
