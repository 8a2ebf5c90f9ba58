"""What a job costs where accounts are divided among cells, beside one database: processor time from accept to end.

Of everything: the web in this process, the nodes, and each PostgreSQL.  Both have as many nodes, users and jobs.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from uuid import uuid4

import psutil
from durable_harness.left_behind import RUN_FOLDER
from durable_harness.waiting import wait_for
from sqlalchemy import text
from werkzeug.test import Client

from bench.endings import end_in_order
from tests.e2e.cells_on_fire import Cells, Owner
from tests.e2e.fire import Fire
from tests.nodes import Nodes

NODES, PROCESSES, THREADS, USERS = 4, 2, 4, 400


@dataclass(frozen=True)
class Cost:
    """Milliseconds of a processor for a job: of accepts with the web, of PostgreSQL and of nodes; jobs in a second."""

    web: float
    servers: float
    nodes: float
    rate: float

    @property
    def whole(self) -> float:
        """Everything."""
        return self.web + self.servers + self.nodes


def main() -> None:
    """Take turns, print a line for each, and the ratio of the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=4_000)
    parser.add_argument("--turns", type=int, default=5)
    asked = parser.parse_args()
    end_in_order()
    found: dict[int, list[Cost]] = {1: [], asked.cells: []}
    print(f"{'cells':>5} | {'web':>5} | {'PostgreSQL':>10} | {'nodes':>5} | {'all, ms':>7} | jobs/s | load")
    for _ in range(asked.turns):
        for count, costs in found.items():
            costs.append(cost := measured(count, asked.jobs))
            print(
                f"{count:5} | {cost.web:5.2f} | {cost.servers:10.2f} | {cost.nodes:5.2f} | {cost.whole:7.2f} |"
                f" {cost.rate:6.0f} | {os.getloadavg()[0]:.0f}",
                flush=True,
            )
    one, several = (median(cost.whole for cost in costs) for costs in found.values())
    print(f"medians: one database {one:.2f} ms, {asked.cells} cells {several:.2f} ms, ratio {several / one:.3f}")


def measured(count: int, jobs: int) -> Cost:
    """Submit so many as fast as they are accepted, and wait until each has ended."""

    def calm(nodes: Nodes) -> Fire:
        return Fire(nodes, random.Random(0), NODES // count, PROCESSES, 0.0, 0.0, {})

    with tempfile.TemporaryDirectory() as folder:
        os.environ[RUN_FOLDER] = folder
        with Cells.of(count, Path(folder), calm) as cells:
            owners = cells.owners(USERS)
            wait_for(lambda: all(cell.fire.ready() for cell in cells.cells.values()), "the nodes")
            submit(cells, owners, 2 * USERS)  # caches, plans and imports of everybody
            before, begun = spent(cells), time.monotonic()
            submit(cells, owners, jobs)
            seconds, after = time.monotonic() - begun, spent(cells)
    web, servers, nodes = (1000 * (late - early) / jobs for early, late in zip(before, after, strict=True))
    return Cost(web, servers, nodes, jobs / seconds)


def submit(cells: Cells, owners: list[Owner], jobs: int) -> None:
    # one database is asked without the router, which it would not have
    asked = cells.router if len(cells.cells) > 1 else cells.apps["c0"]

    def live(number: int) -> None:
        client = Client(asked)
        for place in range(number, jobs, THREADS):
            owner = owners[place % len(owners)]
            wanted = {"repository": "https://github.com/fire/ms5", "commit": uuid4().hex + uuid4().hex[:8]}
            headers = {"Authorization": f"Bearer {owner.token}"}
            answer = client.post("/api/v1/analyses", json=wanted, headers=headers, environ_base={"REMOTE_ADDR": "::1"})
            assert answer.status_code == 202, answer.text

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(live, range(THREADS)))
    wait_for(lambda: all(cell.waiting == 0 for cell in cells.cells.values()), "every job to end", seconds=900)


def spent(cells: Cells) -> tuple[float, float, float]:
    """Seconds of a processor: of this process, of the servers and of the nodes, with children that have ended."""
    servers = list[int]()
    for cell in cells.cells.values():
        with cell.world.uow.begin() as tx:
            servers.append(psutil.Process(tx.run(text("SELECT pg_backend_pid()")).scalar_one()).ppid())
    nodes = [worker.pid for cell in cells.cells.values() for worker in cell.fire.workers]
    return time.process_time(), sum(map(_of_tree, servers)), sum(map(_of_tree, nodes))


def _of_tree(pid: int) -> float:
    return sum(
        sum((times.user, times.system, times.children_user, times.children_system))
        for times in _times(psutil.Process(pid))
    )


def _times(root: psutil.Process) -> Iterator[psutil._ntuples.pcputimes]:
    for process in (root, *root.children(recursive=True)):
        try:
            yield process.cpu_times()
        except psutil.NoSuchProcess:  # it has ended meanwhile: its parent has its times
            continue


if __name__ == "__main__":
    main()
