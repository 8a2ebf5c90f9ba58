"""How each way grows with what is stored: `python -m bench.growth HOME [--jobs N …] [--turns T]`.

HOME keeps a database for each number of jobs.  It has ten tests for each job, a user for each 50 and a repository for
each 25.  Prints medians and 95th percentiles in milliseconds, and the bytes of the largest tables for each job.
"""

from __future__ import annotations

import argparse
import logging
import os
from pathlib import Path
from statistics import median

import structlog

from app import embedded
from app.domain.summaries import percentile
from bench.endings import end_in_order
from bench.growth.paths import Ways
from bench.maintenance.filled import FILL, make, run, used

CONTENTS = Path(__file__).parent / "contents.sql"
WARM = 5
_BYTES = """
    SELECT relname, pg_total_relation_size(oid) FROM pg_class
     WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY 2 DESC LIMIT 12"""


def main() -> None:
    """Make the databases that are not there, and take each way in each of them."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--jobs", type=int, nargs="+", default=[50_000, 500_000, 5_000_000])
    parser.add_argument("--turns", type=int, default=40)
    given = parser.parse_args()
    end_in_order()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    os.environ["READ_LIMIT_PER_MINUTE"] = os.environ["RATE_LIMIT_PER_MINUTE"] = "1000000000"
    found: dict[int, dict[str, list[float]]] = {}
    with embedded.hold(given.home, durable=False) as server:
        for jobs in given.jobs:
            make(server, f"grown_{jobs}", sizes(jobs), FILL, CONTENTS)
        for jobs in given.jobs:
            with used(server, f"grown_{jobs}") as uow:
                found[jobs] = _taken(Ways(uow, given.turns), given.turns)
            _tell_bytes(server, f"grown_{jobs}", jobs)
    _tell(found)


def sizes(jobs: int) -> dict[str, int]:
    """What `fill.sql` and `contents.sql` are given."""
    files = jobs // 10
    return {
        "jobs": jobs, "daily": jobs // 50, "users": jobs // 50, "repositories": jobs // 25, "files": files,
        "contents": min(files, 50_000),
    }  # fmt: skip


def _taken(ways: Ways, turns: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for name, way in ways.all().items():
        took = [way(turn) for turn in range(turns + WARM)]
        found[name] = took[WARM:]
    return found


def _tell(found: dict[int, dict[str, list[float]]]) -> None:
    least, *_, most = found
    print(f"| p50, p95 in ms with jobs | {' | '.join(f'{jobs:,}' for jobs in found)} | largest / smallest |")
    print("|---" * (len(found) + 2) + "|")
    for name in found[least]:
        cells = [f"{median(one[name]):.1f}, {percentile(one[name], 0.95):.1f}" for one in found.values()]
        ratio = median(found[most][name]) / median(found[least][name])
        print(f"| {name} | {' | '.join(cells)} | {ratio:.2f} |")


def _tell_bytes(server: embedded.Server, name: str, jobs: int) -> None:
    rows = run(server.admin_url, _BYTES, database=name)
    told = ", ".join(f"{table} {int(str(size)) / jobs:,.0f}" for table, size in rows)
    total = run(server.admin_url, f"SELECT pg_database_size('{name}')")[0][0]
    print(f"{name}: {int(str(total)) / 1e9:.2f} GB; bytes a job: {told}", flush=True)


if __name__ == "__main__":
    main()
