"""The whole command, in a process of its own: what a person waits for.

Memory is the largest single process: the engine, or a parsing child.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5


def measure(path: str, commit: str) -> dict[str, float]:
    """Medians of ROUNDS runs after one to warm the disk's cache."""
    argv = [sys.executable, "-m", "app.cli", "inventory", path, "--commit", commit, "--format", "json"]
    seconds, megabytes, summary = [], [], {}
    for number in range(ROUNDS + 1):
        took, peak, summary = _run(argv)
        if number:
            seconds.append(took)
            megabytes.append(peak)
    return {
        "tests": summary["tests"],
        "files with tests": summary["files"],
        "command s": statistics.median(seconds),
        "command s, most": max(seconds),
        "peak MB": statistics.median(megabytes),
    }


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
