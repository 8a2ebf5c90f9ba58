"""Run the scenes in turns, ours and its rivals, and print medians and ratios; the last line is JSON."""

import argparse
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from durable_bench import peers, report
from durable_bench.bench import Bench, Missing, Options, running
from durable_bench.scenes import SCENES, SHORT, Step
from durable_bench.systems import SYSTEMS


def main() -> None:
    """Measure."""
    given = _arguments()
    for ending in (signal.SIGTERM, signal.SIGINT):  # a shell's background job ignores SIGINT: servers would stay
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    if given.list:
        _list()
        return
    options = Options(
        jobs=given.jobs, multiplier=given.multiplier, latencies=given.latencies, peers_venv=given.peers_venv,
        backlog=tuple(given.backlog), finished=given.finished, idle_seconds=given.idle_seconds,
        pin_seconds=given.pin_seconds,
    )  # fmt: skip
    results: report.Results = {}
    with tempfile.TemporaryDirectory(prefix="broker-bench-") as folder:
        Path(folder).chmod(0o755)
        with running(options, given.systems, Path(folder)) as bench:
            for number in range(given.rounds):
                _round(bench, given, f"round {number + 1}", results)
            version, without = bench.postgres.version, bench.without
    print(f"\nPostgreSQL {version}, fsync on, {os.cpu_count()} cores, {given.rounds} rounds: median (least-most)")
    print(report.table(results, without))
    _write(given.json, results, {"postgresql": version, "missing": without, "multiplier": given.multiplier})


def _round(bench: Bench, given: argparse.Namespace, label: str, results: report.Results) -> None:
    for scene in given.scenes:
        for step in (step for step in SCENES[scene] if not given.steps or step.name in given.steps):
            for name in given.systems:
                if name not in bench.without and step.applies(SYSTEMS[name]):
                    with _turn(given.lock):
                        _measure(
                            bench, step, name, f"{label} {scene} {step.name} {name}", results.setdefault(scene, {})
                        )


def _measure(bench: Bench, step: Step, name: str, label: str, into: dict[str, dict[str, list[float]]]) -> None:
    try:
        figures = step.run(bench, SYSTEMS[name])
    except Missing as why:
        bench.without[f"{name}, {step.name}"] = str(why)
        return
    except (RuntimeError, TimeoutError, subprocess.TimeoutExpired) as error:  # the others go on
        bench.without[f"{label} FAILED"] = str(error)
        print(label, "FAILED", error, flush=True)
        return
    print(label, {measure: round(figure, 2) for measure, figure in figures.items()}, flush=True)
    for measure, figure in figures.items():
        into.setdefault(measure, {}).setdefault(name, []).append(figure)


@contextlib.contextmanager
def _turn(path: Path | None) -> Iterator[None]:
    """Hold the file's lock, so that others who measure on this machine wait, for one step at a time."""
    if path is None:
        yield
        return
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(path: Path | None, results: report.Results, facts: dict[str, object]) -> None:
    medians = report.medians(results)
    if path:
        path.write_text(json.dumps({**facts, "medians": medians, "figures": results}, indent=1))
    print(json.dumps({**facts, "medians": medians}))


def _list() -> None:
    for name, system in SYSTEMS.items():
        print(f"{name:16}{system.about}")
    for scene, steps in SCENES.items():
        print(f"{scene:16}{', '.join(step.name for step in steps)}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m durable_bench", description=__doc__)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), metavar="SYSTEM")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SHORT), metavar="SCENE")
    parser.add_argument("--steps", nargs="+", metavar="STEP", help="only those of these names; --list names them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=20_000, help="of a drain; a slow system gets its share of them")
    parser.add_argument("--latencies", type=int, default=120, help="jobs of the latency scene")
    parser.add_argument("--backlog", type=int, nargs="+", default=[0, 500_000, 1_000_000], help="messages that wait")
    parser.add_argument("--finished", type=int, default=1_000_000, help="jobs that ran before, in the backlog scene")
    parser.add_argument("--idle-seconds", type=float, default=60.0, help="how long the idle nodes are watched")
    parser.add_argument("--pin-seconds", type=float, default=600.0, help="how long the open transaction stays open")
    parser.add_argument("--multiplier", type=int, default=8, help="Celery's prefetch multiplier, with every broker")
    parser.add_argument("--peers-venv", type=Path, default=peers.default_folder(), help="default: in your cache")
    parser.add_argument("--lock", type=Path, help="a file to hold locked during each step")
    parser.add_argument("--json", type=Path, help="where every single figure is written")
    parser.add_argument("--list", action="store_true", help="name the systems and scenes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
