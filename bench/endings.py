"""How a benchmark ends when it is told to."""

import signal
import sys


def end_in_order() -> None:
    """Exit at SIGTERM and SIGINT through all blocks, which end the servers and processes that were started.

    A shell's background job ignores SIGINT, and Python's SIGTERM ends no block: both left a whole service behind.
    """
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
