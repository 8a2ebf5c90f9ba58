"""What it costs to read what tests check: an inventory with and without, of a first run and with all facts known.

Each is taken in a process of its own, by turns, so that what else the machine does weighs on both.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
from testlist import Source, resolve

ROUNDS = 3
INTERVAL = 0.05
MB = 1e6
#: a process of its own: `ru_maxrss` would begin with the memory of whoever started it
TAKE = """
import json, sys, tempfile, time
from pathlib import Path
from testlist import Source, fetched, inventory
from testlist.disk_cache import DiskCache
path, commit, folder, checks = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4] == "checks"
cache, source = DiskCache(folder), Source.local(Path(path))
before = time.process_time()
with tempfile.TemporaryDirectory() as work, fetched(source, commit, workdir=Path(work)) as repository:
    found = inventory(repository, cache=cache, checks=checks)
own = time.process_time() - before
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
told = [one for file in found.files for one in file.checks if one is not None and one.checks]
print(json.dumps({
    "the process that resolves, s": own,
    "the process that resolves, MB": int(peak.split()[1]) * 1024 / 1e6,
    "tests": len(found.tests),
    "tests with checks": len(told),
}))
"""


def measure(path: str, commit: str | None) -> dict[str, float]:
    """Medians of ROUNDS.  s: of a processor; MB: the peaks of one process, and of all together (PSS).

    What a process takes after it was looked at last, INTERVAL ago at most, is not seen.
    """
    figures: dict[str, list[float]] = {}
    commit, _ = resolve(Source.local(Path(path)), commit)
    for _ in range(ROUNDS):
        for checks in ("plain", "checks"):
            with tempfile.TemporaryDirectory() as folder:
                for run in ("first", "known"):
                    for what, figure in _taken([path, commit, folder, checks]).items():
                        figures.setdefault(f"{run}, {checks}: {what}", []).append(figure)
    return {what: statistics.median(those) for what, those in figures.items()}


def _taken(given: list[str]) -> dict[str, float]:
    process = subprocess.Popen([sys.executable, "-c", TAKE, *given], stdout=subprocess.PIPE)
    most, others = 0, dict[int, float]()
    while process.poll() is None:
        most = max(most, _together(process.pid, others))
        time.sleep(INTERVAL)  # between two samples of memory
    assert process.stdout is not None
    with process.stdout:
        written = process.stdout.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, given)
    return {**json.loads(written), "the others, s": sum(others.values()), "all together, MB": most / MB}


def _together(pid: int, others: dict[int, float]) -> int:
    """Bytes of a process and those below it; pages that they share are divided among them.

    others: gets the seconds of a processor that each of those below has taken so far.
    """
    found = 0
    with suppress(psutil.Error):
        for one in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            with suppress(psutil.Error):
                found += int(one.memory_full_info().pss)
                times = one.cpu_times()
                if one.pid != pid:
                    others[one.pid] = times.user + times.system
    return found
