"""Whether the broker stays as fast with a million messages waiting, delayed, parked, or finished before."""

import statistics

from durable_bench.bench import Bench
from durable_bench.scenes.drain import rate
from durable_bench.scenes.step import Figures, Step
from durable_bench.systems import CLIENTS, System

CLIENT = f"{CLIENTS}.backlog"
PROCESSES = 8
#: Measured; as many more lie behind them, so that no drain ends with idle processes.
JOBS = 20_000
CLAIMS = 600
#: Drains at each size after filling and a checkpoint.  The first touch of a page after a checkpoint writes it whole
#: into the log, with 1,000,000 rows 1 to 2.4 pages a job; so the first drain is told apart from the others' median.
DRAINS = 4
#: The table's size is looked at so often.
PARTS = 4
SIZE = """
    SELECT sum(pg_table_size(t)) / 1e6, sum(pg_indexes_size(t)) / 1e6,
           sum(pg_total_relation_size(t)) / 1e6
      FROM unnest('{durable_message,durable_ready,durable_lease,durable_waiting}'::regclass[]) AS t"""


def _step(kind: str) -> Step:
    def run(bench: Bench, system: System) -> Figures:
        bench.fresh(system)
        figures: dict[str, float] = {}
        for size in bench.options.backlog:
            first, *later = _drains(bench, system, kind, size)
            p99 = bench.client(system, "claims", CLAIMS, module=CLIENT) or 0.0
            figures[f"{size:,} {kind}, jobs/s"] = statistics.median(later)
            figures[f"{size:,} {kind}, jobs/s, first"] = first
            figures[f"{size:,} {kind}, claim p99 ms"] = p99 * 1000
            print(f"  {size:,} {kind}: {first:,.0f}, {later} jobs/s, claim p99 {p99 * 1000:.2f} ms", flush=True)
        least, *larger = sorted(bench.options.backlog)
        for size in larger:
            for which in ("jobs/s", "jobs/s, first"):
                quotient = figures[f"{size:,} {kind}, {which}"] / figures[f"{least:,} {kind}, {which}"]
                figures[f"{size:,} {kind} / {least:,}, {which}"] = quotient
        return figures

    return Step(kind, run, _ours)


def _drains(bench: Bench, system: System, kind: str, size: int) -> list[float]:
    rates = []
    for number in range(DRAINS):
        _refill(bench, system, kind, size)
        if number == 0:
            bench.settle(system)
        rates.append(rate(bench, system, PROCESSES, JOBS))
    _refill(bench, system, kind, size)
    return rates


def _refill(bench: Bench, system: System, kind: str, size: int) -> None:
    """Have so many that wait, and fresh jobs that come after them; a group takes its turn with the others."""
    if kind == "plain":  # nothing is fresh: the first of many are drained
        bench.client(system, kind, size + 2 * JOBS, module=CLIENT)
    else:
        bench.client(system, "clear", module=CLIENT)
        bench.client(system, kind, size, module=CLIENT)
        bench.client(system, "fresh", 2 * JOBS, module=CLIENT)


def _finished(bench: Bench, system: System) -> Figures:
    """Run jobs through; nobody vacuums but the server itself."""
    bench.fresh(system)
    before = _drain_alone(bench, system)
    figures = {"before, jobs/s": before}
    part = bench.options.finished // PARTS
    for number in range(1, PARTS + 1):
        bench.client(system, "finish", part, module=CLIENT, seconds=part / 1_000)
        [(table, indexes, total)] = bench.postgres.run(SIZE, database=system.name)
        print(f"  after {part * number:,}: table {table:.1f}, indexes {indexes:.1f}, all {total:.1f} MB", flush=True)
        figures[f"after {part * number:,} finished, table MB"] = float(table)
        figures[f"after {part * number:,} finished, indexes MB"] = float(indexes)
    after = _drain_alone(bench, system)
    return {**figures, "after, jobs/s": after, "after / before": after / before}


def _drain_alone(bench: Bench, system: System) -> float:
    """Median of a few; what is left over is taken away."""
    rates = []
    for _ in range(DRAINS):
        bench.client(system, "fresh", 2 * JOBS, module=CLIENT)
        bench.postgres.run("CHECKPOINT")
        rates.append(rate(bench, system, PROCESSES, JOBS))
        bench.client(system, "clear", module=CLIENT)
    return statistics.median(rates)


def _ours(system: System) -> bool:
    return system.name == "ours"


STEPS = (*(_step(kind) for kind in ("grouped", "plain", "delayed", "parked")), Step("finished", _finished, _ours))
