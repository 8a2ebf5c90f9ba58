"""A process and all below it: memory, processor time, and a sudden end.  Linux only."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """Processes below `pid`, itself first."""
    found = [pid]
    for parent in found:
        with suppress(OSError):  # it has just ended
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def megabytes(pids: Iterable[int]) -> float:
    """Proportional set size together: a page that two of them share counts once."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def cpu_seconds(pids: Iterable[int]) -> float:
    """Processor time they have used, in the kernel and outside."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def kill(pids: Iterable[int]) -> None:
    """End them at once, as the kernel does when memory is short.  Only for what this run started."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
