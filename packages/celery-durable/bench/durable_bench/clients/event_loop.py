"""The commands of the systems that run on asyncio; each client says only how it publishes and how its node runs."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from durable_bench.clients import mark
from durable_bench.clients.command import BATCHES, WARM_UP, Command, serve

#: Jobs of one statement when filling.
CHUNK = 5_000


@dataclass(frozen=True)
class Publisher:
    """An open connection.  one: a no-op job, in a transaction of its own; many: so many in one; stamped: see mark."""

    one: Callable[[], Awaitable[object]]
    many: Callable[[int], Awaitable[object]]
    stamped: Callable[[float], Awaitable[object]]


Connect = Callable[[], AbstractAsyncContextManager[Publisher]]


def serve_loop(
    connect: Connect, *, setup: Callable[[], Awaitable[None]], node: Callable[[int], Awaitable[None]]
) -> None:
    """As command.serve."""

    async def ready(_: int) -> None:
        await setup()

    asynchronous: dict[str, Callable[[int], Awaitable[float | None]]] = {
        "setup": ready,
        "publish": lambda count: _publish(connect, count),
        "many": lambda count: _many(connect, count),
        "fill": lambda count: _fill(connect, count),
        "paced": lambda count: _stamped(connect, mark.paced(count)),
        "steady": lambda count: _stamped(connect, mark.steady(count)),
        "node": node,
    }
    serve({name: _command(body) for name, body in asynchronous.items()})


def _command(body: Callable[[int], Awaitable[float | None]]) -> Command:
    async def run(count: int) -> Any:
        return await body(count)

    return lambda count: asyncio.run(run(count))


async def _publish(connect: Connect, count: int) -> float:
    async with connect() as publisher:
        for _ in range(WARM_UP):
            await publisher.one()
        began = time.perf_counter()
        for _ in range(count):
            await publisher.one()
        return time.perf_counter() - began


async def _many(connect: Connect, count: int) -> float:
    async with connect() as publisher:
        took = []
        for _ in range(BATCHES + 1):
            began = time.perf_counter()
            await publisher.many(count)
            took.append(time.perf_counter() - began)
        return statistics.median(took[1:])


async def _fill(connect: Connect, count: int) -> None:
    async with connect() as publisher:
        for start in range(0, count, CHUNK):
            await publisher.many(min(CHUNK, count - start))


async def _stamped(connect: Connect, times: Iterable[float]) -> None:
    async with connect() as publisher:
        for now in times:
            await publisher.stamped(now)
