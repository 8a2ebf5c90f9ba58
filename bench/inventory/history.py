"""One commit later, over the real commits of a repository: processor time beside that of a first run, and the rows.

Each commit is taken with what an earlier one left, and once more without, which must be the same.
"""

import random
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from testlist import Inventory, Source, fetched, inventory
from testlist.git.repository import Repository
from testlist.language_part import LanguagePart
from testlist.sandbox.process import Process

from bench.inventory.engine import Memory


class Different(Exception):  # noqa: N818 - the one thing that may not be
    """Another inventory than a whole run finds."""


def measure(path: str, count: int, *, checks: bool) -> dict[str, float]:
    """Medians over the newest commits of the first parents, in % of the processor time of a first run of the oldest.

    configured: commits that change a configuration file, whatever that says then; checks: and what tests check.
    """
    log = ["git", "-C", path, "log", "--first-parent", "--format=%H", f"--max-count={count + 1}"]
    oldest, *later = reversed(subprocess.run(log, check=True, capture_output=True, text=True).stdout.split())
    cache, source = Memory(), Source.local(Path(path))
    with _opened(source, oldest) as repository:
        first, last = _seconds(lambda: inventory(repository, cache=cache, checks=checks))
    shares: dict[str, list[float]] = {"kept": [], "again": [], "whole": [], "configured": []}
    for commit in later:
        with _opened(source, commit) as repository:
            took, found, how = _taken(repository, cache, last)
            _compare(repository, cache, found)
        shares["configured" if _configured(last) != _configured(found) else how].append(100 * took / first)
        last = found
    plain = [share for how in ("kept", "again", "whole") for share in shares[how]]
    figures = {"first run s": first, "commits": len(later), "median %": statistics.median(plain)}
    for how, found_shares in shares.items():
        figures[f"{how}, commits"] = len(found_shares)
        figures[f"{how}, median %"] = statistics.median(found_shares or [0])
    return figures


def _configured(found: Inventory) -> dict[str, str]:
    """Path -> blob id of configuration files."""
    return {} if found.basis is None else {path: found.basis.blobs[path] for path in found.basis.configs}


@contextmanager
def _opened(source: Source, commit: str) -> Iterator[Repository]:
    with tempfile.TemporaryDirectory() as folder, fetched(source, commit, workdir=Path(folder)) as repository:
        yield repository


def _taken(repository: Repository, cache: Memory, last: Inventory) -> tuple[float, Inventory, str]:
    """-> seconds, the inventory, and how it came about."""
    asked = Counter[bool]()
    concerned = LanguagePart.concerned

    def watched(part: LanguagePart) -> set[str] | None:
        found = concerned(part)
        asked[found is not None] += 1
        return found

    checks = last.basis is not None and last.basis.uses is not None
    with patch.object(LanguagePart, "concerned", watched):
        took, found = _seconds(lambda: inventory(repository, cache=cache, earlier=last, checks=checks))
    return took, found, "whole" if asked[False] else "again" if asked else "kept"


def measure_pairs(path: str, count: int, *, checks: bool) -> dict[str, float]:
    """Take random commits with what others left, up to 20 away in either direction.  -> how many were equal: all."""
    log = ["git", "-C", path, "log", "--first-parent", "--format=%H", "--max-count=2000"]
    commits = subprocess.run(log, check=True, capture_output=True, text=True).stdout.split()
    chance, cache, source, kept = random.Random(count), Memory(), Source.local(Path(path)), 0
    for _ in range(count):
        place = chance.randrange(len(commits))
        other = max(0, min(len(commits) - 1, place + chance.randint(-20, 20)))
        with _opened(source, commits[place]) as repository:
            last = inventory(repository, cache=cache, checks=checks)
        with _opened(source, commits[other]) as repository:
            found = inventory(repository, cache=cache, earlier=last, checks=checks)
            _compare(repository, cache, found)
        kept += bool(found.unchanged)
    return {"pairs": count, "equal": count, "took something over": kept}


def _compare(repository: Repository, cache: Memory, found: Inventory) -> None:
    """Take the commit as a whole.  The links of an earlier one stay, for which a whole run does not ask."""
    checks = found.basis is not None and found.basis.uses is not None
    whole = inventory(repository, cache=cache, checks=checks)
    if whole.basis is not None and found.basis is not None:
        read = {
            name: one._replace(links=found.basis.read[name].links if name in found.basis.read else None)
            for name, one in whole.basis.read.items()
        }
        whole = whole._replace(basis=whole.basis._replace(read=read))
    if found._replace(unchanged=frozenset()) != whole:
        raise Different(repository.commit)


def _seconds(work: Callable[[], Inventory]) -> tuple[float, Inventory]:
    """What the work takes of processors, with git and the parsing children, and what it gives."""
    ended: dict[int, Process] = {}
    wait = Process.wait

    def watched(process: Process) -> int:
        ended[id(process)] = process
        return wait(process)

    before = time.process_time()
    with patch.object(Process, "wait", watched):
        found = work()
    return time.process_time() - before + sum(process.seconds for process in ended.values()), found
