"""Time the maintenance tasks and the operator's report: `python -m bench.maintenance HOME [TASK ...] [--jobs N]`.

HOME keeps the database between runs.  Each task works on a copy of it, which is dropped afterwards.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from app import embedded
from bench.endings import end_in_order
from bench.maintenance.filled import FILL, copy, make
from bench.maintenance.timed import TASKS


def main() -> None:
    """Make the database if it is not there, and run the tasks that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench.maintenance", description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("tasks", nargs="*", choices=[[], *TASKS], help="the tasks to time; default: all")
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--daily", type=int, default=100_000, help="jobs of the last day")
    parser.add_argument("--repositories", type=int, default=200_000)
    parser.add_argument("--users", type=int, default=10_000)
    given = parser.parse_args()
    end_in_order()
    with embedded.hold(given.home, durable=False) as server:
        make(server, "filled", vars(given), FILL)
        for name in given.tasks or TASKS:
            with copy(server, "filled") as uow:
                TASKS[name](uow)


if __name__ == "__main__":
    main()
