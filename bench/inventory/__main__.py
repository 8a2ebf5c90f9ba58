"""`python -m bench.inventory PATH[@COMMIT] …`: time and memory of inventories; the last line is JSON."""

import argparse
import json
from pathlib import Path

from bench.inventory import checks, engine, history, later, whole

PARTS = ["command", "engine", "later", "checks", "history", "pairs"]


def main() -> None:
    """One repository after the other."""
    parser = argparse.ArgumentParser(prog="python -m bench.inventory", description=__doc__)
    parser.add_argument("repositories", nargs="+", metavar="PATH[@COMMIT]")
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    parser.add_argument("--commits", type=int, default=50, help="of the history, or pairs of them (50)")
    parser.add_argument("--checks", action="store_true", help="history, pairs: also what tests check")
    given = parser.parse_args()
    print(f"import of the engine {engine.import_seconds():.3f} s", flush=True)
    found = {}
    for name in given.repositories:
        path, _, commit = name.partition("@")
        figures: dict[str, float] = {}
        if given.only in (None, "engine"):
            figures |= engine.measure(path, commit or None)
        if given.only in (None, "command"):
            figures |= whole.measure(path, commit or "HEAD")
        if given.only in (None, "later"):
            figures |= later.measure(path, *engine.files_with_tests(path, commit or None))
        if given.only in (None, "checks"):
            figures |= checks.measure(path, commit or None)
        if given.only in (None, "history"):
            figures |= history.measure(path, given.commits, checks=given.checks)
        if given.only == "pairs":
            figures |= history.measure_pairs(path, given.commits, checks=given.checks)
        found[Path(path).parent.name if Path(path).name == "repo" else Path(path).name] = figures
        print(name)
        for what, figure in figures.items():
            print(f"  {what:36} {figure:12,.3f}", flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
