"""The drain while a transaction of the server stays open, so that nothing dead can be removed.  200 jobs/s pass by."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg2

from durable_bench.bench import Bench
from durable_bench.clients.mark import RATE
from durable_bench.scenes.drain import rate
from durable_bench.scenes.latency import percentiles
from durable_bench.scenes.step import Figures, Step, with_broker
from durable_bench.systems import System

PROCESSES = 2
WARM_JOBS = 20
JOBS = 5_000
SECONDS = 60.0


@contextmanager
def _pin(bench: Bench, system: System) -> Iterator[None]:
    """Keep a transaction open that has an id, and so holds back what others may remove."""
    with closing(psycopg2.connect(bench.postgres.url(system.name))) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()")
        yield


def pinned(bench: Bench, system: System) -> Figures:
    """Drain, pin, let jobs pass by for a while, drain again."""
    bench.fresh(system)
    before = _drain(bench, system)
    with _pin(bench, system):
        stamps = _pass_by(bench, system, int(RATE * bench.options.pin_seconds))
        after = _drain(bench, system)
    latencies = {f"meanwhile, {name}": figure for name, figure in percentiles(stamps).items()}
    return {"before, jobs/s": before, "at the end, jobs/s": after, "at the end / before": after / before, **latencies}


def _drain(bench: Bench, system: System) -> float:
    bench.client(system, "fill", JOBS)
    bench.settle(system)
    return rate(bench, system, PROCESSES, JOBS)


def _pass_by(bench: Bench, system: System, jobs: int) -> list[float]:
    """Seconds from before each publish to the start of the job."""
    with bench.nodes(system, PROCESSES) as running:
        bench.client(system, "fill", WARM_JOBS)
        running.wait(WARM_JOBS, SECONDS)
        bench.client(system, "steady", jobs, seconds=bench.options.pin_seconds)
        deadline = time.monotonic() + SECONDS
        while len(stamps := running.stamps()) < jobs and time.monotonic() < deadline:
            time.sleep(1.0)
    if len(stamps) != jobs:
        raise RuntimeError(f"{system.name}: {len(stamps)} of {jobs} jobs ran")
    return stamps


STEPS = (Step("open transaction", pinned, lambda system: with_broker(system) and system.store == "postgres"),)
