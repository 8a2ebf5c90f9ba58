"""A database and a worker that all tests of a module share: to start them costs seconds, to ask them milliseconds."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from celery_durable import schema

from durable_harness.broker import Broker
from durable_harness.postgres import PostgresServer
from durable_harness.waiting import PATIENCE_SECONDS, wait_for

TASKS = "durable_harness.option_tasks"
TOLD = """
    CREATE TABLE told (id bigint GENERATED ALWAYS AS IDENTITY, at timestamptz DEFAULT clock_timestamp(),
                       task_id text, what text, facts jsonb)"""

_numbers = count(1)


@contextmanager
def standing(server: PostgresServer, logs: Path) -> Iterator["Standing"]:
    """A database of its own; every worker on it is killed at the end."""
    with ExitStack() as stack:
        name = f"standing{next(_numbers)}"
        Broker(server.url(), server, logs, stack).query(f"CREATE DATABASE {name}")
        broker = Standing(server.url(name), server, logs, stack)
        broker.prepare()
        yield broker


class Standing(Broker):
    """A broker whose questions are about one task, since others leave their rows beside it."""

    def prepare(self) -> None:
        """Make the tables."""
        connection = self.connect()
        with connection, connection.cursor() as cursor:
            schema.upgrade(connection)
            schema.add_stock_names(connection)
            cursor.execute(TOLD)
        connection.close()

    def send(self, name: str, *args: Any, **options: Any) -> str:
        return str(self.app.send_task(f"{TASKS}.{name}", args=args, **options).id)

    def told(self, task_id: str, what: str | None = None) -> list[Any]:
        """What the task's runs told, in order."""
        found = self.query(
            "SELECT facts FROM told WHERE task_id = %s AND what = coalesce(%s, what) ORDER BY id", task_id, what
        )
        return [facts for (facts,) in found]

    def waits(self, task_id: str) -> bool:
        return bool(self.value("SELECT count(*) FROM kombu_message WHERE task_id = %s", task_id))

    def is_over(self, task_id: str, *, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until its message is gone."""
        wait_for(lambda: not self.waits(task_id), f"{task_id} to be over", seconds=seconds)

    def dead(self, task_id: str) -> list[str]:
        """Why it is a dead letter, if it is one."""
        return [why for (why,) in self.query("SELECT reason FROM kombu_dead_letter WHERE task_id = %s", task_id)]
