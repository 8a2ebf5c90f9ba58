"""From `kill -9` until the job that was running starts again."""

import json
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from durable_bench.bench import Bench
from durable_bench.nodes import Nodes
from durable_bench.scenes.step import Figures, Step
from durable_bench.systems import System
from durable_bench.trees import kill, tree

TIMES = 10
PROCESSES = 2
#: Two nodes, and one job: the other node is idle.
NODES = 2
#: Whoever needs longer is shown with this, and not asked again.
PATIENCE_SECONDS = 60.0
START_SECONDS = 60.0
#: After its pool is there, until a node surely consumes; and at most so much more, so that no beat is met in step.
READY_SECONDS, PHASE_SECONDS = 3.0, 3.0

#: (job, process, time.time()) of each start
Start = tuple[str, int, float]


def _with_messages(system: System) -> bool:
    return system.is_celery and system.store != "memory"


def _starts(nodes: Nodes) -> list[Start]:
    lines = "".join(path.read_text() for path in nodes.folder.glob("*.starts")).splitlines()
    return sorted((tuple(json.loads(line)) for line in lines), key=lambda start: start[2])


def _wait_starts(nodes: Nodes, count: int, seconds: float) -> list[Start]:
    deadline = time.monotonic() + seconds
    while len(starts := _starts(nodes)) < count and time.monotonic() < deadline:
        time.sleep(0.005)
    return starts


def _once(bench: Bench, system: System, nodes: Nodes, victims: Callable[[Nodes, int], list[int]]) -> float:
    """Seconds until the victim's job runs again."""
    release = _clear(nodes)
    bench.client(system, "hold", 1)
    starts = _wait_starts(nodes, 1, START_SECONDS)
    if not starts:
        raise TimeoutError(f"{system.name}: the job did not start")
    time.sleep(random.uniform(0.2, PHASE_SECONDS))
    at = time.time()
    kill(victims(nodes, starts[0][1]))
    starts = _wait_starts(nodes, 2, PATIENCE_SECONDS)
    release.touch()
    return starts[1][2] - at if len(starts) > 1 else PATIENCE_SECONDS


def _child(_: Nodes, pid: int) -> list[int]:
    return [pid]


def _node(nodes: Nodes, pid: int) -> list[int]:
    """Choose the whole tree around the process that runs the job."""
    return next(pids for process in nodes.processes if pid in (pids := tree(process.pid)))


def _ready(nodes: Nodes) -> None:
    """Wait until all nodes have their pools, and consume."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and any(len(tree(node.pid)) <= PROCESSES for node in nodes.processes):
        time.sleep(0.1)
    time.sleep(READY_SECONDS)


def _step(name: str, victims: Callable[[Nodes, int], list[int]]) -> Step:
    def run(bench: Bench, system: System) -> Figures:
        bench.fresh(system)
        took: list[float] = []
        with bench.nodes(system, PROCESSES, NODES) as nodes:
            _ready(nodes)
            while len(took) < TIMES and PATIENCE_SECONDS not in took:
                took.append(_once(bench, system, nodes, victims))
                time.sleep(1.0)  # for the released job to end
                if nodes.replace_dead():
                    _ready(nodes)
        print(f"  {name}:", *(f"{seconds:.2f}" for seconds in took), flush=True)
        return {f"{name}, p50 s": statistics.median(took), f"{name}, max s": max(took)}

    return Step(name, run, _with_messages)


def _busy_node(bench: Bench, system: System) -> Figures:
    """Kill a node whose processes all have a job, beside an idle one: until the first and the last run there."""
    bench.fresh(system)
    took: list[list[float]] = []
    with bench.nodes(system, PROCESSES, 1) as nodes:
        while len(took) < TIMES:
            took.append(_all_jobs(bench, system, nodes))
    first, last = zip(*((one[0], one[-1]) for one in took), strict=True)
    return {
        "a busy node, first, p50 s": statistics.median(first), "a busy node, last, p50 s": statistics.median(last),
        "a busy node, last, max s": max(last),
    }  # fmt: skip


def _all_jobs(bench: Bench, system: System, nodes: Nodes) -> list[float]:
    """Seconds until each of the jobs of the only node runs on another, in order; that one is the only node then."""
    [victim] = nodes.processes
    _ready(nodes)
    release = _clear(nodes)
    bench.client(system, "hold", PROCESSES)
    _wait_starts(nodes, PROCESSES, START_SECONDS)
    nodes.start()
    _ready(nodes)
    time.sleep(random.uniform(0.2, PHASE_SECONDS))
    at = time.time()
    kill(tree(victim.pid))
    starts = _wait_starts(nodes, 2 * PROCESSES, PATIENCE_SECONDS)[PROCESSES:]
    release.touch()
    nodes.processes.remove(victim)
    victim.wait()
    time.sleep(1.0)  # for the released jobs to end
    return [start[2] - at for start in starts] + [PATIENCE_SECONDS] * (PROCESSES - len(starts))


def _clear(nodes: Nodes) -> Path:
    """Forget the starts of before.  -> the file that lets jobs end."""
    release = nodes.folder / "release"
    release.unlink(missing_ok=True)
    for old in nodes.folder.glob("*.starts"):
        os.truncate(old, 0)
    return release


STEPS = (_step("a child", _child), _step("a node", _node), Step("a busy node", _busy_node, _with_messages))
