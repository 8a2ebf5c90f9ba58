"""How the benchmark talks to a client: a command and a number in, a line of JSON out."""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping

#: A command: does so many of something.  -> seconds, or None when there is nothing to time.
Command = Callable[[int], float | None]
#: Published before the clock starts: connections, prepared statements, caches.
WARM_UP = 20
#: Batches of which the median counts, after one more.
BATCHES = 5


class Missing(Exception):  # noqa: N818  an answer, not a failure
    """The system has no such thing; says why."""


def database() -> str:
    """Where the system's tables are, as libpq spells it."""
    return os.environ["BENCH_DATABASE"]


def serve(commands: Mapping[str, Command]) -> None:
    """Run the command of the process's arguments and print {"seconds": …} or {"missing": …}."""
    name, number = sys.argv[1:]
    try:
        answer: dict[str, object] = {"seconds": commands[name](int(number))}
    except Missing as why:
        answer = {"missing": str(why)}
    print(json.dumps(answer), flush=True)


def median_of_batches(send: Callable[[], object]) -> float:
    """Median seconds of a batch."""
    send()
    return statistics.median(timed(send) for _ in range(BATCHES))


def timed(action: Callable[[], object]) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
