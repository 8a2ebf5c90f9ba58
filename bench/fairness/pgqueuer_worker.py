"""The flood with PgQueuer, run by the interpreter of the peers' venv: an entrypoint a user, each with the limit.

URL fill USER=COUNT …        the jobs, in this order
URL work LIMIT MS USER …     take jobs until SIGTERM, then print [user, start, end] of each, as JSON

Its rule is a cap of at least twice the batch, so a process runs two jobs at once.
"""

import asyncio
import json
import signal
import sys
import time
from typing import Any

import asyncpg  # type: ignore[import-not-found,import-untyped,unused-ignore]
from pgqueuer import PgQueuer, Queries  # type: ignore[import-not-found,unused-ignore]
from pgqueuer.db import AsyncpgDriver  # type: ignore[import-not-found,unused-ignore]

AT_ONCE = 2


async def fill(url: str, *orders: str) -> None:
    """Make its tables and enqueue."""
    connection = await asyncpg.connect(url)
    queries = Queries(AsyncpgDriver(connection))
    await queries.install()
    for order in orders:
        user, _, count = order.partition("=")
        size = int(count)
        await queries.enqueue([user] * size, [None] * size, [0] * size)
    await connection.close()


async def work(url: str, limit: str, milliseconds: str, *users: str) -> None:
    """Run until SIGTERM."""
    queuer = PgQueuer.from_asyncpg_connection(await asyncpg.connect(url))
    runs: list[tuple[str, float, float]] = []

    async def nap(job: Any) -> None:
        began = time.time()
        await asyncio.sleep(int(milliseconds) / 1000)
        runs.append((job.entrypoint, began, time.time()))

    for user in users:
        queuer.entrypoint(user, concurrency_limit=int(limit))(nap)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, queuer.shutdown.set)
    await queuer.run(max_concurrent_tasks=AT_ONCE, batch_size=AT_ONCE // 2)
    print(json.dumps(runs), flush=True)


if __name__ == "__main__":
    address, command, *rest = sys.argv[1:]
    asyncio.run({"fill": fill, "work": work}[command](address, *rest))
