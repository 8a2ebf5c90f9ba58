"""What six idle nodes of two processes cost: transactions, and processor time of their process trees."""

import time

from durable_bench.bench import Bench
from durable_bench.scenes.step import Figures, Step, with_broker
from durable_bench.systems import System
from durable_bench.trees import cpu_seconds, tree

NODES = 6
WARM_JOBS = 60
#: Until what a burst of work leaves behind has calmed down, and its statistics are written.
SETTLE_SECONDS = 15.0
START_SECONDS = 120.0
#: The observer asks from another database, so it does not count itself; autovacuum's visits do count.
TRANSACTIONS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = %s"


def idle_cost(bench: Bench, system: System) -> Figures:
    """Watch for a while, after they ran a few jobs."""
    bench.fresh(system)
    bench.client(system, "fill", WARM_JOBS)
    with bench.nodes(system, 2, NODES) as running:
        running.wait(WARM_JOBS, START_SECONDS)
        time.sleep(SETTLE_SECONDS)
        roots = [process.pid for process in running.processes]
        before, used = _transactions(bench, system), sum(cpu_seconds(tree(pid)) for pid in roots)
        began = time.monotonic()
        time.sleep(bench.options.idle_seconds)
        took = time.monotonic() - began
        after, used_after = _transactions(bench, system), sum(cpu_seconds(tree(pid)) for pid in roots)
    figures = {"processor a node, % of a core": 100 * (used_after - used) / took / NODES}
    if system.store == "postgres":
        figures["transactions/s a node"] = (after - before) / took / NODES
    return figures


def _transactions(bench: Bench, system: System) -> int:
    rows = bench.postgres.run(TRANSACTIONS, (system.name,))
    return int(rows[0][0]) if rows else 0


STEPS = (Step("6 idle nodes", idle_cost, with_broker),)
