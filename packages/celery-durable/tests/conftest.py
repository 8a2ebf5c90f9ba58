"""A fresh database per test, consumers in this process and workers of their own."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from durable_harness import profiles  # noqa: F401  loads a profile
from durable_harness.broker import Broker
from durable_harness.database import Database
from durable_harness.engines import forget_engines
from durable_harness.left_behind import watch as pytest_configure  # noqa: F401  a hook
from durable_harness.old_broker import old, redis_old, redis_server  # noqa: F401  fixtures
from durable_harness.postgres import PostgresServer
from durable_harness.taker import Take, Taker


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def database(server: PostgresServer) -> Iterator[Database]:
    made = Database(server)
    yield made
    made.close()


@pytest.fixture
def broker(server: PostgresServer, database: Database, tmp_path: Path) -> Iterator[Broker]:
    with ExitStack() as stack:
        database.clean()
        stack.callback(forget_engines)
        yield Broker(server.url(), server, tmp_path, stack)


@pytest.fixture
def taker(broker: Broker) -> Take:
    def make(*queues: str, prefetch: int = 10, **options: Any) -> Taker:
        return Taker(broker.kombu(**options), queues or ("main",), prefetch)

    return make
