"""What a million jobs of the free tier cost the start of a paid one."""

from collections.abc import Mapping

from app.domain.plans import Tier
from app.domain.summaries import percentile
from bench.fairness.scenes.backlog import starts
from bench.fairness.scenes.figures import Figures
from bench.fairness.service import service


def measure(sizes: Mapping[str, int]) -> Figures:
    """p50 and p99 of a paid user's start, each queue with a node of its own."""
    with service(1) as ours:
        paid, free = ours.user("paid", Tier.PRO), ours.user("free")
        with ours.node(1, "analysis_priority"):
            empty = starts(ours, paid)
            waiting = [ours.submit(free, 50) for _ in range(4)]  # the last ones wait behind the first
            ours.copy(waiting[-1], sizes["free"])
            with ours.node(2):
                full = starts(ours, paid)
    name = f"{sizes['free']:,} free jobs"
    return {
        "idle, start of a paid job, p50 ms": percentile(empty, 0.5) * 1000,
        "idle, start of a paid job, p99 ms": percentile(empty, 0.99) * 1000,
        f"{name}, start of a paid job, p50 ms": percentile(full, 0.5) * 1000,
        f"{name}, start of a paid job, p99 ms": percentile(full, 0.99) * 1000,
        "flood / idle, p99": percentile(full, 0.99) / percentile(empty, 0.99),
    }
