"""Mutated files of every language and format: each is read or skipped with a cause, and the run ends."""

from __future__ import annotations

import os
import time
from collections import Counter
from random import Random

import pytest
from testlist.model import STATUSES
from testlist_harness.corpus import files_of, label, projects
from testlist_harness.mutate import mutated
from testlist_harness.processes import no_children_left
from testlist_harness.repositories import MakeRepository, TakeInventory

pytestmark = pytest.mark.proof

#: `make prove-inventory` takes 100,000.
FILES = int(os.environ.get("MUTATED_FILES", "1500"))
SEED = int(os.environ.get("MUTATION_SEED", "1"))
#: Seconds that a file may take before the run would be called hanging; a child ends it after 5.
PATIENCE = 6.0
CAUSES = {"too_large", "binary", "unreadable", "missing", "parse_failed", "parse_timeout"}


@pytest.mark.timeout(FILES + 300)
def test_mutated_files_are_read_or_skipped_and_the_run_ends(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    dice, done, skipped, slowest = Random(SEED), 0, Counter[str](), 0.0
    sources = {f"{label(project)}/{path}": text for project in projects() for path, text in files_of(project).items()}
    texts = list(sources.values())
    while done < FILES:
        changed = {path: mutated(text, texts, dice) for path, text in sources.items()}
        began = time.monotonic()
        found = take(make_repository(changed, f"round{done}"))
        slowest = max(slowest, time.monotonic() - began)
        done += len(changed)
        skipped.update(file.skipped for file in found.files if file.skipped)
        for row in (test.row() for test in found.tests):
            assert row["file"] in changed
            assert row["status"] in STATUSES
            assert (
                1
                <= row["line"]
                <= row["end_line"]
                <= changed[row["file"]].count(b"\n") + changed[row["file"]].count(b"\r") + 1
            ), row
    print(f"\nseed {SEED}: {done} files, skipped {dict(skipped)}, the slowest {len(sources)} took {slowest:.1f} s")
    assert set(skipped) <= CAUSES
    assert slowest < PATIENCE * (1 + skipped["parse_timeout"]) + 30
    no_children_left()
