"""The whole command, in a process of its own: what a person waits for.

Memory is the largest single process: the engine, or a parsing child.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
#: A process of its own: what one starts is charged with the memory that it had itself.
WATCH = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


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
        done = subprocess.run(
            [sys.executable, "-S", "-c", WATCH, *argv], stdout=output, stderr=subprocess.PIPE, check=True
        )
        took = time.monotonic() - began
        output.seek(0)
        summary = json.loads(output.read())["summary"]
    return took, int(done.stderr.split()[-1]) / 1024, summary
