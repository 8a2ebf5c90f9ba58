"""Memory of a node before and while 100,000 messages of its queue wait for their time."""

import time

from durable_bench.bench import Bench
from durable_bench.scenes.step import Figures, Step
from durable_bench.systems import System
from durable_bench.trees import megabytes, tree

DELAYED = 100_000
WARM_JOBS = 20
SETTLE_SECONDS = 5.0
#: For the systems whose nodes fetch what is not due yet.
FETCH_SECONDS = 20.0


def memory(bench: Bench, system: System) -> Figures:
    """Proportional set size of the process tree."""
    bench.fresh(system)
    bench.client(system, "fill", WARM_JOBS)
    with bench.nodes(system, 2) as running:
        running.wait(WARM_JOBS, 60)
        time.sleep(SETTLE_SECONDS)
        pid = running.processes[0].pid
        before = megabytes(tree(pid))
        bench.client(system, "delay", DELAYED)
        time.sleep(FETCH_SECONDS)
        after = megabytes(tree(pid))
    return {"before, MB": before, "with 100,000 delayed, MB": after, "growth, MB": after - before}


#: stock's nodes take the sample away from under the filling.
STEPS = (Step("100,000 delayed", memory, lambda system: system.name in {"ours", "redis", "rabbit"}),)
