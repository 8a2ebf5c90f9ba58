"""A run that is killed: what it kept is not asked for again, and nothing is lost."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from service_harness.model_double import ModelDouble, after
from service_harness.model_runs import subjects

from tests.nodes import ROOT
from tests.specview.model_writer import kept
from tests.tiers import proofs

pytestmark = pytest.mark.proof

TESTS, CHUNK, PARALLEL = 600, 50, 3


@pytest.mark.parametrize("seed", proofs([1, 2], but=[1]))
def test_a_run_that_is_killed_again_and_again_repeats_no_call_that_was_kept(seed: int, tmp_path: Path) -> None:
    kills, roll = 0, random.Random(seed)
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "harness")}
    file = tmp_path / "kept"
    with ModelDouble.serving(after(0.05)) as double:
        while len(kept(file)) < TESTS:
            argv = [sys.executable, "-m", "tests.specview.model_writer", double.url, str(TESTS), str(file)]
            before, asked = set(kept(file)), len(double.calls)
            with subprocess.Popen(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as writer:
                for _ in range(roll.randint(1, 3)):
                    if not writer.stdout.readline():
                        break
                writer.send_signal(signal.SIGKILL)
                ended = writer.wait()
            assert ended in {0, -signal.SIGKILL}
            kills += ended == -signal.SIGKILL
            names = {entry["name"] for call in double.calls[asked:] for entry in call.asked["tests"]}
            assert not names & before
    assert set(kept(file)) == {one.name for one in subjects(TESTS)}
    assert kills >= 2
    times = Counter(entry["name"] for call in double.calls for entry in call.asked["tests"])
    # what was under way at a kill, or had come back and was not yet kept
    assert sum(times.values()) - TESTS <= kills * 3 * PARALLEL * CHUNK
