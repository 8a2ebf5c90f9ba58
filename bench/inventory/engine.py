"""The engine in this process: bytes a second with one child and two, beside what bounds it, and a run again."""

import importlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from testlist import Facts, FactsKey, ParseLimits, Source, fetched, inventory, resolve
from testlist.git.objects import Refusal
from testlist.git.repository import Repository

from bench.inventory.commits import next_commit

ROUNDS = 3
WORD = re.compile(rb"(?i)\b(test|describe|it|spec)\w*")
TESTS = "import time; t = time.perf_counter(); import testlist.engine; print(time.perf_counter() - t)"


@dataclass
class Memory:
    """A cache of facts that lives as long as the process.  asked, stored: keys since `forget`."""

    facts: dict[FactsKey, Facts] = field(default_factory=dict)
    stored: int = 0

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        """As FactsCache."""
        return {key: self.facts[key] for key in keys if key in self.facts}

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        """As FactsCache."""
        self.facts |= facts
        self.stored += len(facts)


def measure(path: str, commit: str | None) -> dict[str, float]:
    """Medians of ROUNDS.  MB: of all that was read and parsed, tests and configuration."""
    source = Source.local(Path(path))
    commit, _ = resolve(source, commit)
    with tempfile.TemporaryDirectory() as work, fetched(source, commit, workdir=Path(work)) as repo:
        seen = Memory()
        inventory(repo, cache=seen)
        blobs = {key.blob_id: content for key, content in _contents(repo, list(seen.facts))}
        megabytes = sum(map(len, blobs.values())) / 1e6
        cold = {children: _median(repo, children) for children in (1, 2)}
        return {
            "files read": len(blobs),
            "MB": megabytes,
            "one child s": cold[1],
            "one child MB/s": megabytes / cold[1],
            "two children / one": cold[1] / cold[2],
            "known already s": _timed(lambda: inventory(repo, cache=seen)),
            "regular expression MB/s": megabytes
            / _timed(lambda: [WORD.findall(content) for content in blobs.values()]),
            "bare parse MB/s": megabytes / _timed(lambda: _parse(seen, blobs)),
            **_changed(repo, path, work, seen),
        }


def files_with_tests(path: str, commit: str | None) -> tuple[str, list[str]]:
    """(commit id, paths)."""
    source = Source.local(Path(path))
    commit, _ = resolve(source, commit)
    with tempfile.TemporaryDirectory() as work, fetched(source, commit, workdir=Path(work)) as repo:
        return commit, [file.path for file in inventory(repo).files if file.tests]


def import_seconds() -> float:
    """Of the engine, in a fresh process without its start."""
    argv = [sys.executable, "-c", TESTS]
    return statistics.median(float(subprocess.run(argv, capture_output=True, check=True).stdout) for _ in range(5))


def _changed(repo: Repository, path: str, work: str, seen: Memory) -> dict[str, float]:
    """A second commit that changes one file with tests: what is parsed again, and how long it takes."""
    file = next(file.path for file in inventory(repo, cache=seen).files if file.tests)
    clone = Path(work) / "clone"
    argv = ["git", "clone", "--quiet", "--shared", "--bare", path, str(clone)]
    subprocess.run(argv, check=True, capture_output=True)
    commit = next_commit(clone, repo.commit, file)
    with fetched(Source.local(clone), commit, workdir=Path(work)) as second:
        known, before = Memory(dict(seen.facts)), time.perf_counter()
        inventory(second, cache=known)
        return {"after one change s": time.perf_counter() - before, "after one change, files parsed": known.stored}


def _contents(repo: Repository, keys: Sequence[FactsKey]) -> list[tuple[FactsKey, bytes]]:
    by_blob = {key.blob_id: key for key in keys}
    found = repo.read(list(by_blob))
    return [(by_blob[blob], content) for blob, content in found if not isinstance(content, Refusal)]


def _median(repo: Repository, children: int) -> float:
    limits = ParseLimits(children=children)
    return statistics.median(_timed(lambda: inventory(repo, limits=limits)) for _ in range(ROUNDS))


def _timed(run: Callable[[], object]) -> float:
    before = time.perf_counter()
    run()
    return time.perf_counter() - before


def _parse(seen: Memory, blobs: Mapping[str, bytes]) -> None:
    """With the grammar alone, in this process."""
    syntax = importlib.import_module("testlist.sandbox.syntax")
    for key in seen.facts:
        if key.language in syntax.GRAMMARS and key.blob_id in blobs:
            syntax.parse(blobs[key.blob_id], key.language)
