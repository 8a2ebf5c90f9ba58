"""Where a drain spends its time: `python -m durable_bench.profile ours rabbit -c 2 8`.

First the processor time of the node's main process, of its children and of the server, unwatched; then py-spy on the
main process.  All in microseconds a job, so that systems of different speed compare.
"""

import argparse
import re
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from durable_bench import peers
from durable_bench.bench import Bench, Options, running
from durable_bench.nodes import Nodes
from durable_bench.systems import SYSTEMS, System
from durable_bench.trees import cpu_seconds, tree

RATE = 200
#: Seconds of a profile; the queue holds what the fastest takes in that time, and the warm-up's.
SECONDS = 4
WARM_JOBS = 2_000
#: A thread that sleeps, for example the one that renews leases.
WAITING = "Condition.wait "
#: What every stack begins with.
EVERYWHERE = re.compile("click|celery/(bin|bootsteps|__main__)|runpy|WorkController|Evloop|asynloop|Consumer.start")


@dataclass(frozen=True)
class Profile:
    """Samples by function.  jobs: done while they were taken; processor: seconds a job by kind of process."""

    processor: dict[str, float]
    own: Counter[str]
    cumulative: Counter[str]
    packages: Counter[str]
    jobs: int


def main() -> None:
    """Print the functions that cost most, of each system."""
    parser = argparse.ArgumentParser(prog="python -m durable_bench.profile", description=__doc__)
    parser.add_argument("systems", nargs="+", choices=SYSTEMS, metavar="SYSTEM")
    parser.add_argument("-c", nargs="+", type=int, default=[2, 8], help="processes of the node")
    parser.add_argument("--jobs", type=int, default=30_000)
    parser.add_argument("--multiplier", type=int, default=8)
    parser.add_argument("--top", type=int, default=25)
    parser.add_argument("--native", action="store_true", help="C functions too; slows the process down")
    parser.add_argument("--peers-venv", type=Path, default=peers.default_folder(), help="py-spy is there")
    given = parser.parse_args()
    options = Options(jobs=given.jobs, multiplier=given.multiplier, latencies=0, peers_venv=given.peers_venv)
    spy = peers.python(given.peers_venv).with_name("py-spy")
    with tempfile.TemporaryDirectory(prefix="broker-bench-") as folder:
        Path(folder).chmod(0o755)
        with running(options, given.systems, Path(folder)) as bench:
            for name in given.systems:
                for processes in given.c:
                    found = _profile(bench, SYSTEMS[name], processes, [str(spy), *(["--native"] * given.native)])
                    _print(f"{name} c={processes}", found, given.top)


def _profile(bench: Bench, system: System, processes: int, spy: list[str]) -> Profile:
    bench.fresh(system)
    if system.store != "memory":
        bench.client(system, "fill", bench.options.jobs)
        bench.settle(system)
    out = bench.folder / "profile.txt"
    with bench.nodes(system, processes, messages=bench.options.jobs) as nodes:
        nodes.wait(WARM_JOBS, 60)
        processor = _processor(nodes, bench.server(system), bench.options.jobs // 3)
        before = nodes.done()
        command = [spy[0], "record", *spy[1:], "--function", "--format", "raw", "--rate", str(RATE)]
        command += ["--duration", str(SECONDS), "--output", str(out), "--pid", str(nodes.processes[0].pid)]
        subprocess.run(command, check=True, capture_output=True)
        jobs = nodes.done() - before
        if nodes.done() == bench.options.jobs:
            print(f"the queue of {system.name} ran empty: raise --jobs", flush=True)
    return _read(out, jobs, processor)


def _processor(nodes: Nodes, server: int, until: int) -> dict[str, float]:
    """Processor seconds a job, of everything that takes part, until so many jobs are done."""
    main = nodes.processes[0].pid
    kinds = {"main": [main], "children": tree(main)[1:], "server": tree(server) if server else []}
    before, began, jobs = {kind: cpu_seconds(pids) for kind, pids in kinds.items()}, time.monotonic(), nodes.done()
    took, done = nodes.wait(until, 60) - began, nodes.done() - jobs
    used = {kind: (cpu_seconds(pids) - before[kind]) / done for kind, pids in kinds.items()}
    return {**used, "together": sum(used.values()), "time": took / done}


def _read(path: Path, jobs: int, processor: dict[str, float]) -> Profile:
    own: Counter[str] = Counter()
    cumulative: Counter[str] = Counter()
    packages: Counter[str] = Counter()
    for line in path.read_text().splitlines():
        stack, _, samples = line.rpartition(" ")
        frames = stack.split(";")
        if any(frame.startswith(WAITING) for frame in frames[-8:]):  # C frames may follow it
            continue
        own[frames[-1]] += int(samples)
        packages[_package(frames)] += int(samples)
        for frame in set(frames):
            cumulative[frame] += int(samples)
    return Profile(processor, own, cumulative, packages, jobs)


def _package(frames: list[str]) -> str:
    """Name the package of the innermost Python frame."""
    for frame in reversed(frames):
        if found := re.search(r"\((?:site-packages/)?([\w/]+)/[\w]+\.py", frame):
            return "/".join(found[1].split("/")[:2])
    return "other"


def _print(title: str, found: Profile, top: int) -> None:
    total = sum(found.own.values())
    each = 1e6 / RATE / max(1, found.jobs)  # microseconds a job that one sample stands for
    print(f"\n== {title}: watched, {found.jobs / SECONDS:,.0f} jobs/s, main process {total * each:.0f} us a job")
    print(f"   unwatched, us a job: {', '.join(f'{kind} {cost * 1e6:.0f}' for kind, cost in found.processor.items())}")
    inner = Counter({name: samples for name, samples in found.cumulative.items() if not EVERYWHERE.search(name)})
    for heading, counter in (("package", found.packages), ("own", found.own), ("cumulative", inner)):
        print(f"  -- {heading}, us a job")
        for name, samples in counter.most_common(top):
            print(f"  {samples * each:8.1f}  {name}")


if __name__ == "__main__":
    main()
