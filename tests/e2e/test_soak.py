"""A whole `fairlane up` at 60 % of its load: what it holds stays as it is, and it loses and leaves nothing.

SOAK_MINUTES minutes (half a one in the suite, ten in `make prove-soak`); SOAK_SEED repeats a run's choices, SOAK_KEEP is a
folder for the table, the picture and the samples.  Below ten minutes all is warm-up, and growth is not judged.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from bench.soak.report import failed, keep, tell
from bench.soak.run import Soak
from bench.soak.verdict import judge

pytestmark = pytest.mark.proof

MINUTES = float(os.environ.get("SOAK_MINUTES", "0.5"))
SEED = int(os.environ.get("SOAK_SEED", random.randrange(2**31)))


@pytest.mark.timeout(60 * MINUTES + 1500)
def test_under_steady_load_the_service_holds_no_more_in_the_end_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "FAIRLANE_HOME", "LOCAL_REPOS_ROOT"):
        monkeypatch.delenv(name, raising=False)  # it has its own
    print(f"\nseed {SEED}")
    soak = Soak(60 * MINUTES, SEED)
    soak.run()
    print(told := tell(soak))
    if folder := os.environ.get("SOAK_KEEP"):
        keep(soak, told, Path(folder))
    assert soak.load.accepted > 0
    assert soak.load.faults + soak.closing.faults == []
    judged = judge(soak.looks, soak.table_of)
    parts = {(one.what, one.part) for one in judged}
    assert {("memory", "web, its processes"), ("memory", "beat"), ("descriptors", "web, its processes")} <= parts
    assert {("connections", "fairlane worker"), ("table bytes", "analysis_requests"), ("rows", "job_events")} <= parts
    if soak.is_judged:
        assert failed(soak) == []
