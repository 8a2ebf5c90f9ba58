"""Start worker processes and count what their children did."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "warning")


@contextmanager
def worker(url: str, folder: Path, processes: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker of so many children; stopped warmly at the end."""
    environment = os.environ | {"BENCH_BROKER_URL": url, "BENCH_FOLDER": str(folder), "C_FORCE_ROOT": "1"}
    command = [sys.executable, "-m", "celery", "-A", "bench.broker.jobs", "worker", "-c", str(processes), *QUIET]
    with (folder.parent / "worker.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def done(folder: Path) -> int:
    """Bytes the children wrote: jobs, where a job writes one."""
    return sum(path.stat().st_size for path in folder.iterdir())


def wait_until(folder: Path, size: int, seconds: float) -> float:
    """Wait for so many bytes.  -> the time it was seen, on the clock of time.monotonic."""
    deadline = time.monotonic() + seconds
    while done(folder) < size:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{done(folder)} of {size} after {seconds} s")
        time.sleep(0.01)
    return time.monotonic()
