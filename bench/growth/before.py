"""Each way beside an earlier revision: `python -m bench.growth.before HOME REVISION [--jobs N …] [--turns T]`.

HOME keeps, for each number of jobs, a database that REVISION filled, and a copy of it that this tree has migrated.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from app import embedded
from bench.growth.__main__ import sizes
from bench.inventory.small import ROOT, checked_out
from bench.takers import Taker, compared, copied, tell

CODE = """
from bench.growth.__main__ import CONTENTS
from bench.growth.paths import Ways
from bench.maintenance.filled import FILL, make

def prepare(server, given):
    make(server, given["filled"], given["sizes"], FILL, CONTENTS)

def ways(uow, given):
    return Ways(uow, given["turns"]).all()
"""


def main() -> None:
    """Make the databases that are not there, and compare the trees in each."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth.before", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("revision")
    parser.add_argument("--jobs", type=int, nargs="+", default=[50_000])
    parser.add_argument("--turns", type=int, default=40)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, embedded.hold(asked.home, durable=False) as server:
        earlier = checked_out(asked.revision, Path(folder, "before"))
        for jobs in asked.jobs:
            name, copy = f"before_{jobs}", f"now_{jobs}"
            given = {"filled": name, "sizes": sizes(jobs), "turns": asked.turns}
            with Taker(earlier, server, name, CODE, given):
                pass  # only fills it: nobody may be connected to what is copied
            copied(server, name, copy)
            with Taker(earlier, server, name, CODE, given) as before, Taker(ROOT, server, copy, CODE, given) as now:
                found = compared([before, now], asked.turns)
            tell(f"{jobs:,} jobs", [asked.revision, "now"], found)


if __name__ == "__main__":
    main()
