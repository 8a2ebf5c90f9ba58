"""Whether the broker stays as fast with a million messages waiting, delayed, parked, or finished before."""

import statistics

from bench.broker.bench import Bench
from bench.broker.scenes.drain import rate
from bench.broker.scenes.step import Figures, Step
from bench.broker.systems import CLIENTS, System

CLIENT = f"{CLIENTS}.backlog"
PROCESSES = 8
#: Measured; as many more lie behind them, so that no drain ends with idle processes.
JOBS = 5_000
CLAIMS = 600
#: Drains at each size; their median counts.
DRAINS = 3
#: The table's size is looked at so often.
PARTS = 4
SIZE = """
    SELECT pg_table_size('kombu_message') / 1e6, pg_indexes_size('kombu_message') / 1e6,
           pg_total_relation_size('kombu_message') / 1e6"""


def _step(kind: str) -> Step:
    def run(bench: Bench, system: System) -> Figures:
        bench.fresh(system)
        rates: dict[int, float] = {}
        figures: dict[str, float] = {}
        for size in bench.options.backlog:
            rates[size] = statistics.median(_drain(bench, system, kind, size) for _ in range(DRAINS))
            _refill(bench, system, kind, size)
            p99 = bench.client(system, "claims", CLAIMS, module=CLIENT) or 0.0
            figures[f"{size:,} {kind}, jobs/s"] = rates[size]
            figures[f"{size:,} {kind}, claim p99 ms"] = p99 * 1000
            print(f"  {size:,} {kind}: {rates[size]:,.0f} jobs/s, claim p99 {p99 * 1000:.2f} ms", flush=True)
        least = min(rates)
        ratios = {f"{size:,} {kind} / {least:,}": rates[size] / rates[least] for size in rates if size != least}
        return {**figures, **ratios}

    return Step(kind, run, _ours)


def _drain(bench: Bench, system: System, kind: str, size: int) -> float:
    _refill(bench, system, kind, size)
    return rate(bench, system, PROCESSES, JOBS)


def _refill(bench: Bench, system: System, kind: str, size: int) -> None:
    """Have so many that wait, and fresh jobs that come after them; a group takes its turn with the others."""
    if kind == "plain":  # nothing is fresh: the first of many are drained
        bench.client(system, kind, size + 2 * JOBS, module=CLIENT)
    else:
        bench.client(system, "clear", module=CLIENT)
        bench.client(system, kind, size, module=CLIENT)
        bench.client(system, "fresh", 2 * JOBS, module=CLIENT)
    bench.settle(system)


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
