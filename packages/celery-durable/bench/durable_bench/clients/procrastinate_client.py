"""Publish with Procrastinate and run its worker, with its own defaults."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from procrastinate import App, PsycopgConnector  # type: ignore[import-not-found,unused-ignore]

from durable_bench.clients import mark
from durable_bench.clients.command import database
from durable_bench.clients.event_loop import Publisher, serve_loop

app = App(connector=PsycopgConnector(conninfo=database()))


@app.task(name="nothing")  # type: ignore[untyped-decorator,unused-ignore]
async def nothing() -> None:
    """Leave one byte."""
    mark.nothing()


@app.task(name="stamp")  # type: ignore[untyped-decorator,unused-ignore]
async def stamp(sent: float) -> None:
    """Leave the seconds since it was sent."""
    mark.stamp(sent)


@asynccontextmanager
async def connect() -> AsyncIterator[Publisher]:
    """Open the app's pool."""
    async with app.open_async():
        yield Publisher(
            one=nothing.defer_async,
            many=lambda count: nothing.batch_defer_async(*[{}] * count),
            stamped=lambda now: stamp.defer_async(sent=now),
        )


async def setup() -> None:
    """Make its tables."""
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


async def node(concurrency: int) -> None:
    """Until SIGTERM."""
    async with app.open_async():
        await app.run_worker_async(concurrency=concurrency)


if __name__ == "__main__":
    serve_loop(connect, setup=setup, node=node)
