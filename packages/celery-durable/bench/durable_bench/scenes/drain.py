"""No-op jobs a second, acknowledged after they ran, from a full queue."""

from durable_bench.bench import Bench
from durable_bench.scenes.step import Figures, Step, with_broker
from durable_bench.systems import System

#: The first jobs of a drain warm the processes up; the clock starts after them.
WARM = 0.1
SECONDS = 180.0


def drain(bench: Bench, system: System, processes: int, nodes: int = 1) -> float:
    """Jobs a second, by `nodes` nodes of so many processes."""
    jobs = int(bench.options.jobs * system.share)
    bench.fresh(system)
    if system.store != "memory":
        bench.client(system, "fill", jobs)
        bench.settle(system)
    return rate(bench, system, processes, jobs, nodes)


def rate(bench: Bench, system: System, processes: int, jobs: int, nodes: int = 1) -> float:
    """Jobs a second of the first so many, whatever else is there."""
    warm = int(jobs * WARM)
    with bench.nodes(system, processes, nodes, messages=jobs) as running:
        began = running.wait(warm, SECONDS)
        done = running.done()
        ended = running.wait(jobs, SECONDS)
    return (jobs - done) / (ended - began)


def _step(processes: int, nodes: int = 1) -> Step:
    name = f"c={processes}" if nodes == 1 else f"{nodes} nodes x {processes}"

    def run(bench: Bench, system: System) -> Figures:
        return {f"{name}, jobs/s": drain(bench, system, processes, nodes)}

    return Step(name, run) if nodes == 1 else Step(name, run, with_broker)


STEPS = (_step(2), _step(8), _step(2, 4))
