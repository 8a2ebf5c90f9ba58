"""`python -m bench.soak [--minutes N] [--keep FOLDER] [--seed N]`: whether what a service holds under load stays.

Prints a table of what was judged, with the bound of each series.  The code is 1 if something grew, was lost or was left
behind.  FOLDER gets the table, the picture and all samples.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
from pathlib import Path

import structlog

from bench.endings import end_in_order
from bench.soak.report import failed, keep, tell
from bench.soak.run import Soak


def main() -> None:
    """Run once and say what was found."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOAK_SEED", random.randrange(2**31))))
    given = parser.parse_args()
    end_in_order()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    print(f"seed {given.seed}, {given.minutes:g} minutes", flush=True)
    soak = Soak(given.minutes * 60, given.seed)
    soak.run()
    text = tell(soak)
    print(text, flush=True)
    if given.keep:
        keep(soak, text, given.keep)
    sys.exit(1 if failed(soak) else 0)


if __name__ == "__main__":
    main()
