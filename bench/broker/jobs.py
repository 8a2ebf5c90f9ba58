"""The Celery app of the benchmark's workers and publishers.

Each run of a job is a line in a file of its child: `seconds` since it was sent, or one byte.
"""

import os
import time
from pathlib import Path

from celery import Celery

import tasks.broker  # noqa: F401  registers the transport

app = Celery("bench", broker=os.environ["BENCH_BROKER_URL"])
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_enable_remote_control=False,
    worker_prefetch_multiplier=int(os.environ.get("BENCH_MULTIPLIER", "4")),
    broker_connection_retry_on_startup=True,
)


def _write(line: bytes) -> None:
    path = Path(os.environ["BENCH_FOLDER"]) / str(os.getpid())
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, line)
    os.close(descriptor)


@app.task
def nothing() -> None:
    """Leave one byte."""
    _write(b".")


@app.task
def stamp(sent: float) -> None:
    """Leave the seconds since it was sent; sender and worker share a clock."""
    _write(f"{time.time() - sent:.6f}\n".encode())
