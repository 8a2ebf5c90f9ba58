"""Measure who waits how long, print what was found, and as the last line JSON."""

import argparse
import json
from pathlib import Path
from statistics import median

from bench.endings import end_in_order
from bench.fairness.scenes import SCENES


def main() -> None:
    """Run the scenes asked for, in turns; medians of the rounds."""
    parser = argparse.ArgumentParser(prog="python -m bench.fairness", description=__doc__)
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--waiting", type=int, default=100_000, help="jobs of one user in `backlog`")
    parser.add_argument("--free", type=int, default=1_000_000, help="jobs of the free tier in `priority`")
    parser.add_argument("--json", type=Path, help="where the figures are written")
    given = parser.parse_args()
    end_in_order()
    sizes = {"waiting": given.waiting, "free": given.free}
    found: dict[str, dict[str, list[float]]] = {}
    for number in range(given.rounds):
        for name in given.scenes:
            print(f"round {number + 1}: {name}", flush=True)
            for what, figure in SCENES[name](sizes).items():
                print(f"  {what:60} {figure:12,.3f}", flush=True)
                found.setdefault(name, {}).setdefault(what, []).append(figure)
    medians = {name: {what: median(values) for what, values in scene.items()} for name, scene in found.items()}
    if given.rounds > 1:
        for name, scene in medians.items():
            for what, figure in scene.items():
                values = found[name][what]
                print(f"{name:10} {what:60} {figure:12,.3f} ({min(values):,.3f}-{max(values):,.3f})")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    print(json.dumps(medians))


if __name__ == "__main__":
    main()
