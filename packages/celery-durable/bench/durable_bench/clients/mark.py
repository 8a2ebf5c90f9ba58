"""What a measured job leaves behind, the same for every system: bytes in a file of its process."""

import json
import os
import random
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

#: Jobs a second of `steady`.
RATE = 200


def nothing() -> None:
    """Leave one byte."""
    os.write(_descriptor(os.getpid()), b".")


def stamp(sent: float) -> None:
    """Leave a line: seconds since `sent`, which is the publisher's time.time() on the same machine."""
    os.write(_descriptor(os.getpid()), f"{time.time() - sent:.6f}\n".encode())


def hold(job: str) -> None:
    """Leave a line that it started, in a file of its own kind, and stay busy until the file `release` is there."""
    folder = Path(os.environ["BENCH_FOLDER"])
    with (folder / f"{os.getpid()}.starts").open("a") as starts:
        starts.write(json.dumps((job, os.getpid(), time.time())) + "\n")
    while not (folder / "release").exists():
        time.sleep(0.01)  # between two looks


def steady(count: int) -> Iterator[float]:
    """Give `count` times the present, RATE a second; one that is late does not delay those after it."""
    began = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, began + number / RATE - time.monotonic()))  # the pace is what is asked for
        yield time.time()


def paced(count: int) -> Iterator[float]:
    """Give `count` times the present, 50 to 200 ms apart; the same gaps for every system."""
    gaps = random.Random(count)
    for _ in range(count):
        time.sleep(gaps.uniform(0.05, 0.2))  # so that each finds the node idle
        yield time.time()


@lru_cache(maxsize=1)
def _descriptor(pid: int) -> int:
    # Kept open: opening a file for each job cost a tenth of a fast system's drain.
    path = Path(os.environ["BENCH_FOLDER"]) / str(pid)
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
