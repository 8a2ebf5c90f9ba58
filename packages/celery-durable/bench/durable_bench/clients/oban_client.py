"""Publish with Oban for Python and run its queue, with its own defaults."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from oban import Oban, worker  # type: ignore[import-not-found,unused-ignore]
from oban.schema import install  # type: ignore[import-not-found,unused-ignore]

from durable_bench.clients import mark
from durable_bench.clients.command import database
from durable_bench.clients.event_loop import Publisher, serve_loop


@worker(queue="default")  # type: ignore[untyped-decorator,unused-ignore]
class Nothing:
    """Leave one byte."""

    new: Any  # of the decorator

    async def process(self, _: Any) -> None:
        """Run."""
        mark.nothing()


@worker(queue="default")  # type: ignore[untyped-decorator,unused-ignore]
class Stamp:
    """Leave the seconds since it was sent."""

    new: Any

    async def process(self, job: Any) -> None:
        """Run."""
        mark.stamp(job.args["sent"])


@asynccontextmanager
async def _pool() -> AsyncIterator[Any]:
    pool = await Oban.create_pool(database())
    try:
        yield pool
    finally:
        await pool.close()


@asynccontextmanager
async def connect() -> AsyncIterator[Publisher]:
    """Open a pool and a client without queues."""
    async with _pool() as pool, Oban(pool=pool) as oban:
        yield Publisher(
            one=lambda: oban.enqueue(Nothing.new()),
            many=lambda count: oban.enqueue_many([Nothing.new() for _ in range(count)]),
            stamped=lambda now: oban.enqueue(Stamp.new({"sent": now})),
        )


async def setup() -> None:
    """Make its tables."""
    async with _pool() as pool:
        await install(pool)


async def node(concurrency: int) -> None:
    """Until SIGTERM."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with _pool() as pool, Oban(pool=pool, queues={"default": concurrency}):
        await stopped.wait()


if __name__ == "__main__":
    serve_loop(connect, setup=setup, node=node)
