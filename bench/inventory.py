"""Time and memory to inventory one local repository: `python -m bench.inventory PATH [--commit C]`.

Each run is a process of its own.  Memory is the largest single process: the engine, or a parsing child.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5


def main() -> None:
    """Print medians of ROUNDS runs after one to warm the disk's cache."""
    parser = argparse.ArgumentParser(prog="python -m bench.inventory", description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--commit", default="HEAD")
    given = parser.parse_args()
    argv = [sys.executable, "-m", "app.cli", "inventory", given.path, "--commit", given.commit, "--format", "json"]
    seconds, megabytes, summary = [], [], {}
    for number in range(ROUNDS + 1):
        took, peak, summary = _run(argv)
        if number:
            seconds.append(took)
            megabytes.append(peak)
    rate = summary["tests"] / statistics.median(seconds)
    print(f"{summary['tests']} tests in {summary['files']} files of {given.path}")
    print(
        f"median {statistics.median(seconds):.2f} s  min {min(seconds):.2f}  max {max(seconds):.2f}  {rate:.0f} tests/s"
    )
    print(f"peak memory of the largest process {statistics.median(megabytes):.0f} MB")
    print(
        json.dumps({"seconds": statistics.median(seconds), "peak_mb": statistics.median(megabytes), "summary": summary})
    )


def _run(argv: list[str]) -> tuple[float, float, dict[str, int]]:
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(argv, stdout=output)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - began
        output.seek(0)
        summary = json.loads(output.read())["summary"]
    return took, used.ru_maxrss / 1024, summary


if __name__ == "__main__":
    main()
