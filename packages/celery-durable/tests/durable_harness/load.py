"""Load for the proofs: somebody who publishes without end, and nodes that are started again when they die."""

import random
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psutil
import psycopg2
from celery_durable.publish import producer_in
from kombu.exceptions import OperationalError

from durable_harness.broker import Broker, Worker

TASKS = "durable_harness.proof_tasks"
TABLES = """
    CREATE TABLE jobs (task_id text PRIMARY KEY);
    CREATE TABLE effects (task_id text UNIQUE);
    CREATE TABLE faults (task_id text, what text);
    CREATE TABLE passes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(),
                         task_id text, token text, pid int, node int, what text)"""
GONE = (OperationalError, psycopg2.OperationalError, psycopg2.InterfaceError)
#: What Celery writes when it ends a node one of whose children died while it started; the second is of its own
#: accounts of a pool, which then has no place for the next child (celery/celery#3729).
CHILD_DIED_AT_START = ("Could not start worker processes", "in get_process_queues")
#: Of a task that runs, seconds.
DURATIONS = (0.0, 0.05, 0.3, 0.6)


class Publisher(threading.Thread):
    """Publishes until `stop`: two of three in a transaction of its own, the others by Celery's own connection.

    A transaction whose outcome is unknown is made again with the same task id; its row of `jobs` tells whether it was
    committed the first time.  Without such a row an unknown outcome stays unknown: 0 or 1 runs are right.
    """

    def __init__(self, broker: Broker, dice: random.Random, *, rate: float) -> None:
        super().__init__(name="publisher", daemon=True)
        self.published: set[str] = set()
        self.unknown: set[str] = set()
        self.repeated = 0
        self.error: BaseException | None = None
        self._broker, self._dice, self._pause = broker, dice, 1 / rate
        self._stopped = threading.Event()
        self._connection: Any = None

    def run(self) -> None:
        try:
            while not self._stopped.wait(self._pause):
                task_id = str(UUID(int=self._dice.getrandbits(128), version=4))
                args = (self._dice.choice(DURATIONS), int(self._dice.random() < 0.15))
                options = {"args": args, "task_id": task_id, "queue": "main", "headers": {"tenant": task_id[0]}}
                if self._dice.random() < 0.15:
                    options["countdown"] = self._dice.uniform(0.1, 2)
                (self._surely if self._dice.random() < 0.66 else self._once)(task_id, options)
        except BaseException as error:  # noqa: BLE001  told by `stop`
            self.error = error

    def stop(self) -> None:
        self._stopped.set()
        self.join(60)
        assert not self.is_alive()
        assert self.error is None, repr(self.error)

    def _surely(self, task_id: str, options: dict[str, Any]) -> None:
        while True:
            try:
                if self._connection is None:
                    self._connection = self._broker.connect()
                with self._connection as connection, connection.cursor() as cursor:
                    cursor.execute("INSERT INTO jobs VALUES (%s) ON CONFLICT DO NOTHING", (task_id,))
                    if cursor.rowcount:
                        self._broker.app.send_task(f"{TASKS}.effect", producer=producer_in(connection), **options)
            except GONE:
                self._connection = None
                self.repeated += 1
                time.sleep(0.02)
            else:
                self.published.add(task_id)
                return

    def _once(self, task_id: str, options: dict[str, Any]) -> None:
        try:
            self._broker.app.send_task(f"{TASKS}.effect", retry=False, **options)
            self.published.add(task_id)
        except GONE:
            self.unknown.add(task_id)
            time.sleep(0.02)


@dataclass
class Nodes:
    """Of two children each; the first one is never killed, so that its memory can be watched."""

    broker: Broker
    count: int
    workers: list[Worker] = field(init=False)
    used: list[Worker] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workers = [self._launch() for _ in range(self.count)]

    def _launch(self) -> Worker:
        worker = self.broker.launch("-c", "2", "-I", TASKS)
        self.broker.stack.callback(worker.clear)
        self.used.append(worker)
        return worker

    def ready(self) -> bool:
        return all("ready." in worker.text for worker in self.workers)

    def mend(self) -> int:
        """Celery ends a node one of whose children dies while it starts; whoever supervises it starts it again."""
        ended = [worker for worker in self._gone() if ended_by_celery(worker)]
        for worker in ended:
            self.kill(worker)
        return len(ended)

    def dead(self) -> list[str]:
        """Logs of those that ended by themselves, but for what `mend` starts again: one may end just after it."""
        return [worker.text for worker in self._gone() if not ended_by_celery(worker)]

    def _gone(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.process.poll() is not None]

    def kill(self, worker: Worker) -> list[int]:
        """The whole tree, and start another.  -> the children's ids"""
        doomed = children(worker)
        worker.clear()
        self.workers[self.workers.index(worker)] = self._launch()
        return doomed

    def stop(self) -> list[int]:
        """All at once.  -> exit codes"""
        for worker in self.workers:
            worker.process.send_signal(signal.SIGTERM)
        return [worker.process.wait(timeout=60) for worker in self.workers]

    def megabytes(self) -> float:
        """Of the first one, without its children."""
        return psutil.Process(self.workers[0].process.pid).memory_info().rss / 2**20

    def left_over(self) -> list[str]:
        """Processes of any of its workers that still live."""
        mine = f"BROKER_TEST_URL={self.broker.url}"
        found = []
        for process in psutil.process_iter():
            try:
                name, _, url = mine.partition("=")
                if process.environ().get(name) == url and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.cmdline()))
            except psutil.Error:
                continue
        return found


def ended_by_celery(worker: Worker) -> bool:
    """Whether a node that is gone ended because a child of its died while that started."""
    return any(said in worker.text for said in CHILD_DIED_AT_START)


def children(worker: Worker) -> list[int]:
    """The processes of its pool."""
    try:
        return [child.pid for child in psutil.Process(worker.process.pid).children()]
    except psutil.NoSuchProcess:
        return []
