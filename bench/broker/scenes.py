"""What is measured.  Each scene starts from empty tables."""

import random
import shutil
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg2
from celery import Celery

from bench.broker.worker import wait_until, worker
from tasks.broker.publish import producer_in

TASK = "bench.broker.jobs."
#: The first jobs of a drain warm the children up.
WARM = 0.1


@dataclass(frozen=True)
class Subject:
    """A transport on a database of its own.  url: for Celery; database: for psycopg2; jobs: how many for a drain."""

    name: str
    url: str
    database: str
    jobs: int
    folder: Path

    @contextmanager
    def fresh(self) -> Iterator[Celery]:
        """Empty the tables and give a publisher."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        app = Celery(self.name, broker=self.url, set_as_current=False)
        app.conf.task_ignore_result = True
        with app.producer_or_acquire() as producer:  # makes stock's tables
            producer.maybe_declare(app.amqp.default_queue)
        self.execute("TRUNCATE kombu_message")
        yield app
        app.close()

    def execute(self, statement: str) -> None:
        """In a transaction of its own."""
        connection = psycopg2.connect(self.database)
        connection.autocommit = True
        connection.cursor().execute(statement)
        connection.close()


def publish(subject: Subject, number: int = 1000) -> float:
    """Messages a second, one by one, each durable before the next."""
    with subject.fresh() as app, app.producer_or_acquire() as producer:
        app.send_task(f"{TASK}nothing", producer=producer)
        began = time.monotonic()
        for _ in range(number):
            app.send_task(f"{TASK}nothing", producer=producer)
        return number / (time.monotonic() - began)


def publish_in_transaction(subject: Subject, number: int = 2000) -> float:
    """Milliseconds a message in the caller's transaction, producer included."""
    with subject.fresh() as app:
        connection = psycopg2.connect(subject.database)
        began = time.monotonic()
        for _ in range(number):
            app.send_task(f"{TASK}nothing", producer=producer_in(connection))
        took = time.monotonic() - began
        connection.commit()
        connection.close()
        return took / number * 1000


def drain(subject: Subject, processes: int) -> float:
    """No-op jobs a second, acknowledged late, from a full queue."""
    with subject.fresh() as app:
        with app.producer_or_acquire() as producer:
            for _ in range(subject.jobs):
                app.send_task(f"{TASK}nothing", producer=producer)
        subject.execute("VACUUM ANALYZE kombu_message")
        warm = int(subject.jobs * WARM)
        with worker(subject.url, subject.folder, processes):
            began = wait_until(subject.folder, warm, 60)
            ended = wait_until(subject.folder, subject.jobs, 120)
    return (subject.jobs - warm) / (ended - began)


def idle(subject: Subject, number: int = 100) -> tuple[float, float]:
    """Milliseconds from before the publish to the job's first line on an idle worker: (p50, p99)."""
    line = len("0.000000\n")
    with subject.fresh() as app, worker(subject.url, subject.folder, 2):
        app.send_task(f"{TASK}stamp", args=(time.time(),))
        wait_until(subject.folder, line, 30)  # it is up
        for _ in range(number):
            time.sleep(random.uniform(0.05, 0.2))
            app.send_task(f"{TASK}stamp", args=(time.time(),))
        wait_until(subject.folder, (number + 1) * line, 30)
        took = sorted(float(text) for path in subject.folder.iterdir() for text in path.read_text().split())
    took = took[:-1]  # the first met a worker that was starting
    return statistics.median(took) * 1000, took[int(len(took) * 0.99) - 1] * 1000
