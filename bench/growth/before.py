"""Each way beside an earlier revision: `python -m bench.growth.before HOME REVISION [--jobs N …] [--beside]`.

HOME keeps, for each number of jobs, a database that REVISION filled, and a copy of it that this tree has migrated.
With `--beside`, a further copy gets a delivery to a webhook for each ten jobs, and is migrated while a client of
REVISION submits and runs jobs in it.  On XFS or Btrfs, `PGOPTIONS='-c file_copy_method=clone'` makes copies that share
their blocks.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from app import embedded
from bench.deliveries import FILL as DELIVERIES
from bench.endings import end_in_order
from bench.growth.__main__ import CONTENTS, sizes
from bench.inventory.small import ROOT, checked_out
from bench.maintenance.filled import FILL, run
from bench.takers import Taker, clone, compared, copied, migrated, tell

HERE = Path(__file__).parent
CODE = """
from pathlib import Path
from bench.growth.paths import Ways
from bench.maintenance.filled import make

def prepare(server, given):
    make(server, given["filled"], given["sizes"], *map(Path, given["files"]))

def ways(uow, given):
    return Ways(uow, given["turns"]).all()
"""
FILES = [str(file) for file in (HERE / "indexes_off.sql", FILL, CONTENTS, HERE / "indexes_on.sql")]
WRITES = ("accept", "start and finish")
#: Jobs for which the client works alone before the migration, and of how many users it takes turns: each has a quota.
ALONE, USERS = 40, 1000


def main() -> None:
    """Make the databases that are not there, and compare the trees in each."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth.before", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("revision")
    parser.add_argument("--jobs", type=int, nargs="+", default=[50_000])
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--beside", action="store_true", help="migrate beside a client, from 50,000 jobs")
    asked = parser.parse_args()
    end_in_order()
    with tempfile.TemporaryDirectory() as folder, embedded.hold(asked.home, durable=False) as server:
        earlier = checked_out(asked.revision, Path(folder, "before"))
        for jobs in asked.jobs:
            name, copy = f"before_{jobs}", f"now_{jobs}"
            given = {"filled": name, "files": FILES, "sizes": sizes(jobs), "turns": asked.turns}
            with Taker(earlier, server, name, CODE, given):
                pass  # only fills it: nobody may be connected to what is copied
            if asked.beside:
                _migrate_beside(earlier, server, given, jobs)
            copied(server, name, copy)
            with Taker(earlier, server, name, CODE, given) as before, Taker(ROOT, server, copy, CODE, given) as now:
                found = compared([before, now], asked.turns)
            tell(f"{jobs:,} jobs", [asked.revision, "now"], found)


def _migrate_beside(earlier: Path, server: embedded.Server, given: Mapping[str, object], jobs: int) -> None:
    """Migrate a copy while a client of the earlier revision works in it, as in an upgrade; tell how long it waited."""
    name, copy = str(given["filled"]), "beside"
    run(server.admin_url, f"DROP DATABASE IF EXISTS {copy} WITH (FORCE)")  # of a run that was stopped
    clone(server, name, copy)
    _, *deliveries = DELIVERIES.format(rows=jobs // 10).split(";\n")  # the users are there
    run(server.admin_url, *deliveries, "VACUUM ANALYZE", database=copy)
    many = {**given, "turns": USERS}
    with Taker(earlier, server, copy, CODE, many) as client, ThreadPoolExecutor(1) as threads:
        alone = [[client.take(way, turn)[0] for way in WRITES] for turn in range(ALONE)]
        _tell_waits(f"{name}, nothing else", alone)
        began = time.monotonic()
        done = threads.submit(migrated, server, copy)
        beside: list[list[float]] = []
        while not done.done():
            beside.append([client.take(way, len(beside))[0] for way in WRITES])
        done.result()
        _tell_waits(f"{name}, migrated in {time.monotonic() - began:.1f} s", beside)
    run(server.admin_url, f"DROP DATABASE {copy} WITH (FORCE)")


def _tell_waits(what: str, waits: list[list[float]]) -> None:
    told = [
        f"{way}: {median(column):.0f} ms, longest {max(column):.0f}"
        for way, column in zip(WRITES, zip(*waits, strict=True), strict=True)
    ]
    print(f"{what}; of {len(waits)} jobs {'; '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
