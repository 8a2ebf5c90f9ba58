"""Tasks that know nothing of the transport, and never mark their start, in a worker with `-I durable_harness.plain_tasks`.

Every run is a row of `told`, with what it was told of its delivery.
"""

import os
import signal
import sys
import time
from typing import Any

from celery.exceptions import Reject
from psycopg2.extras import Json

from durable_harness.worker_app import app, write


def tell(task: Any) -> Any:
    request = task.request
    facts = {"deliveries": request.delivery_count, "lost": request.lost_count}
    write("INSERT INTO told (task_id, what, facts) VALUES (%s, 'ran', %s)", (request.id, Json(facts)))
    return request


@app.task(bind=True)
def runs(self: Any, seconds: float = 0) -> None:
    tell(self)
    time.sleep(seconds)


@app.task(bind=True)
def is_killed(self: Any) -> None:
    tell(self)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(bind=True)
def exits(self: Any) -> None:
    tell(self)
    sys.exit(1)


@app.task(bind=True, time_limit=6, acks_on_failure_or_timeout=False)
def sticks(self: Any) -> None:
    tell(self)
    time.sleep(60)


@app.task(bind=True)
def takes_its_node_along(self: Any) -> None:
    """As the killer of processes that need too much memory does with a container."""
    tell(self)
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)


@app.task(bind=True)
def rejects(self: Any, times: int, *, requeue: bool) -> None:
    if tell(self).delivery_count <= times:
        raise Reject("not now", requeue=requeue)
