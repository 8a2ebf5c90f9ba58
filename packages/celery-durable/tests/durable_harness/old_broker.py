"""Brokers from which messages are received, each with an app that publishes to it."""

from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from celery_durable.receiving import Store, Summary, receive
from celery_durable.receiving.kombu_source import KombuSource
from celery_durable.receiving.redis_source import RedisSource
from kombu import Connection, pools

from durable_harness.broker import Broker
from durable_harness.other_brokers import REDIS, RedisServer

#: How long `receive` waits here for more.
WAIT = 0.3
_databases = count()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    if REDIS is None:  # CI installs it (.ci/run); a machine without it tests the other sources
        pytest.skip("redis-server is not installed (apt-get install redis-server)")
    with closing(RedisServer()) as server:
        yield server


class Old:
    """Another broker with an app that publishes to it."""

    def __init__(self, url: str, **options: Any) -> None:
        self.url, self.options = url, options
        self.app = Celery(set_as_current=False, broker=url)
        self.app.conf.update(task_ignore_result=True, task_default_queue="main", broker_transport_options=options)
        self.app.conf.accept_content = ["json", "pickle"]

    def connection(self) -> Connection:
        return Connection(self.url, transport_options=self.options)

    def send(self, task_id: str, *args: Any, **options: Any) -> None:
        self.app.send_task("shop.work", args, task_id=task_id, **options)


@pytest.fixture(params=["memory", "filesystem", "redis", "redis, prefixed"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Old]:
    """An empty one; a database of Redis each."""
    folders = {
        "data_folder_in": str(tmp_path),
        "data_folder_out": str(tmp_path),
        "control_folder": str(tmp_path / "control"),
    }
    if request.param.startswith("redis"):
        server = request.getfixturevalue("redis_server")
        prefix = {"global_keyprefix": "shop:"} if "prefixed" in request.param else {}
        made = Old(server.url(next(_databases) % 16), **prefix)
        with made.connection() as connection:
            connection.channel().client.flushdb()
    else:
        made = Old(f"{request.param}://", **(folders if request.param == "filesystem" else {}))
    yield made
    made.app.close()
    pools.reset()


@pytest.fixture
def redis_old(redis_server: RedisServer) -> Iterator[Old]:
    made = Old(redis_server.url(next(_databases) % 16), visibility_timeout=3600)
    with made.connection() as connection:
        connection.channel().client.flushdb()
    yield made
    made.app.close()
    pools.reset()


def received(broker: Broker, old: Old, *queues: str, unacked: bool = False, most: int = 500) -> Summary:
    with old.connection() as connection, closing(broker.connect()) as new:
        names = queues or ("main", "slow")
        if old.url.startswith("redis"):
            source: Any = RedisSource(connection, names, most, unacked=unacked)
        else:
            source = KombuSource(connection, names, most)
        return receive(source, Store(new), wait_seconds=WAIT)


def lists(old: Old) -> dict[str, int]:
    """Keys of Redis that hold messages, and how many."""
    with old.connection() as connection:
        client = connection.channel().client
        keys = [key.decode() for key in client.scan_iter() if b"_kombu" not in key]
        sizes = {"list": client.llen, "hash": client.hlen, "zset": client.zcard}
        return {key: sizes[client.type(key).decode()](key) for key in keys}
