"""`python -m bench.inventory.comparison [--tests N] [--rounds N] [--before REVISION]`: two large results compared.

Each comparison runs in a process of its own, in turns with an earlier revision if asked.  Figures are medians of
processor seconds, without making the results.  The last line is JSON.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.inventory.small import ROOT, checked_out

OF_FILE = 20
#: what the names of tests and the folders of files are made of, on both sides
SHAPES = {
    "nothing in common": ("ax", "by"),
    "tests renamed": ("ax", "bx"),
    "files moved": ("ax", "ay"),
    "equal": ("ax", "ax"),
}
#: sides and number of files in, processor seconds and MB at most out
COMPARER = """
import sys, time
from pathlib import Path
sys.path.insert(0, str(Path("packages/testlist/src").absolute()))
from testlist.reports.compare import compare
from testlist.reports.packed_rows import Listed
def files(side):
    name, folder = side
    for f in range(int(sys.argv[3])):
        rows = [{"suites": [f"Suite {f} {name}"], "name": f"test_{name}_thing_{f}_{n}_works", "line": n * 7 + 1,
                 "end_line": n * 7 + 5, "column": 1, "status": "active", "kind": "test", "dynamic": False, "cases": 1,
                 "framework": "pytest"} for n in range(int(sys.argv[4]))]
        yield Listed(f"{folder}/pkg{f % 97}/test_{f}.py", f"{side}{f}", rows)
sides = [list(files(side)) for side in sys.argv[1:3]]
began = time.process_time()
found = compare(*sides)
took = time.process_time() - began
assert sum(found.totals().values()) >= int(sys.argv[3]) * int(sys.argv[4])
print(took)
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.inventory.comparison", description=__doc__)
    parser.add_argument("--tests", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", help="a revision of this repository")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = {"now": ROOT}
        if given.before:
            trees["before"] = checked_out(given.before, Path(folder, "before"))
        print(json.dumps(_measure(given.tests // OF_FILE, given.rounds, trees)))


def _measure(files: int, rounds: int, trees: dict[str, Path]) -> dict[str, dict[str, float]]:
    figures = {}
    for shape, sides in SHAPES.items():
        seconds: dict[str, list[float]] = {name: [] for name in trees}
        for turn in range(rounds):
            for name in sorted(trees, reverse=bool(turn % 2)):
                seconds[name].append(_compared(trees[name], sides, files))
        found = {f"{name} s": round(statistics.median(took), 2) for name, took in seconds.items()}
        if "before" in seconds:
            pairs = zip(seconds["now"], seconds["before"], strict=True)
            found["now / before"] = round(statistics.median(one / other for one, other in pairs), 2)
        figures[shape] = found
        print(shape, found, flush=True)
    return figures


def _compared(tree: Path, sides: tuple[str, str], files: int) -> float:
    argv = [sys.executable, "-c", COMPARER, *sides, str(files), str(OF_FILE)]
    return float(subprocess.run(argv, cwd=tree, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
