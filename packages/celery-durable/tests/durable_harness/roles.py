"""A role of the cluster that owns nothing."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg2
from celery import Celery
from celery_durable import schema
from psycopg2.errors import InsufficientPrivilege

from durable_harness.broker import Broker


class Role:
    """A role of the cluster, for one test."""

    def __init__(self, broker: Broker, name: str, **options: Any) -> None:
        self.broker, self.name, self.options = broker, name, options
        self.url = broker.url.replace("//postgres@", f"//{name}@")
        broker.query(f"CREATE ROLE {name} LOGIN")
        broker.stack.callback(broker.query, f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}")
        self.app = Celery(set_as_current=False, broker=f"durable+{self.url}")
        self.app.conf.update(
            task_ignore_result=True, task_default_queue="main", task_publish_retry=False,
            broker_transport_options=options,
        )  # fmt: skip
        broker.stack.callback(self.app.close)

    def grant(self, right: str) -> "Role":
        with closing(self.broker.connect()) as connection, connection:
            schema.grant(connection, self.name, right, self.options)
        return self

    @contextmanager
    def connected(self) -> Iterator[Any]:
        with closing(psycopg2.connect(self.url)) as connection:
            yield connection

    def may(self, statement: str) -> bool:
        with self.connected() as connection, connection.cursor() as cursor:
            try:
                cursor.execute(statement)
            except InsufficientPrivilege:
                return False
            return True
