"""Publish with PgQueuer and run its worker: capped to the concurrency asked for, or with its own defaults.

Its rule is a cap of at least twice the batch, so a cap of 2 leaves batches of one.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg  # type: ignore[import-not-found,import-untyped,unused-ignore]
from pgqueuer import PgQueuer, Queries  # type: ignore[import-not-found,unused-ignore]
from pgqueuer.db import AsyncpgDriver  # type: ignore[import-not-found,unused-ignore]

from durable_bench.clients import mark
from durable_bench.clients.command import database
from durable_bench.clients.event_loop import Publisher, serve_loop

CAPPED = os.environ.get("BENCH_VARIANT") == "capped"


@asynccontextmanager
async def _queries() -> AsyncIterator[Any]:
    connection = await asyncpg.connect(database())
    try:
        yield Queries(AsyncpgDriver(connection))
    finally:
        await connection.close()


@asynccontextmanager
async def connect() -> AsyncIterator[Publisher]:
    """Open a connection."""
    async with _queries() as queries:
        yield Publisher(
            one=lambda: queries.enqueue("nothing", None),
            many=lambda count: queries.enqueue(["nothing"] * count, [None] * count, [0] * count),
            stamped=lambda now: queries.enqueue("stamp", str(now).encode()),
        )


async def setup() -> None:
    """Make its tables."""
    async with _queries() as queries:
        await queries.install()


async def node(concurrency: int) -> None:
    """Until SIGTERM."""
    queuer = PgQueuer.from_asyncpg_connection(await asyncpg.connect(database()))

    @queuer.entrypoint("nothing")  # type: ignore[untyped-decorator,unused-ignore]
    async def nothing(_: Any) -> None:
        mark.nothing()

    @queuer.entrypoint("stamp")  # type: ignore[untyped-decorator,unused-ignore]
    async def stamp(job: Any) -> None:
        mark.stamp(float(job.payload))

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, queuer.shutdown.set)
    if CAPPED:
        await queuer.run(max_concurrent_tasks=concurrency, batch_size=max(1, concurrency // 2))
    else:
        await queuer.run()


if __name__ == "__main__":
    serve_loop(connect, setup=setup, node=node)
