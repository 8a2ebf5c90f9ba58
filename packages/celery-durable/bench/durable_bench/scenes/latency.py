"""From before the enqueue call until the job's body, on an idle node of two processes."""

import time

from durable_bench.bench import Bench
from durable_bench.scenes.step import Figures, Step, with_broker
from durable_bench.systems import System

WARM_JOBS = 20
SETTLE_SECONDS = 1.0
SECONDS = 60.0


def percentiles(seconds: list[float]) -> Figures:
    """p50, p95 and p99 in milliseconds."""
    ordered = sorted(seconds)
    return {
        f"p{part}, ms": ordered[min(len(ordered) - 1, int(len(ordered) * part / 100))] * 1000 for part in (50, 95, 99)
    }


def latency(bench: Bench, system: System) -> Figures:
    """Publish one by one with pauses."""
    bench.fresh(system)
    bench.client(system, "fill", WARM_JOBS)
    with bench.nodes(system, 2) as running:
        running.wait(WARM_JOBS, SECONDS)
        time.sleep(SETTLE_SECONDS)
        bench.client(system, "paced", bench.options.latencies)
        deadline = time.monotonic() + SECONDS
        while len(running.stamps()) < bench.options.latencies and time.monotonic() < deadline:
            time.sleep(0.1)
        stamps = running.stamps()
    if len(stamps) != bench.options.latencies:
        raise RuntimeError(f"{system.name}: {len(stamps)} of {bench.options.latencies} jobs ran")
    return percentiles(stamps)


STEPS = (Step("idle enqueue to start", latency, with_broker),)
