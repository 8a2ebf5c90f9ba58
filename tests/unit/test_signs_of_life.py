"""Signs of life: of whom there is one, how old it is, and what is none."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app import signs_of_life


def test_the_age_of_a_sign_is_counted_from_when_it_was_given(tmp_path: Path) -> None:
    before = time.monotonic()
    signs_of_life.give(tmp_path, "analysis_default@here")
    age = signs_of_life.age(tmp_path, "analysis_default@here")
    assert age is not None
    assert 0 <= age <= time.monotonic() - before


def test_the_sign_of_a_process_that_has_ended_is_none(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from app import signs_of_life; signs_of_life.give(Path(sys.argv[1]), 'beat@here')"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert (tmp_path / "alive" / "beat@here").exists()
    assert signs_of_life.age(tmp_path, "beat@here") is None


@pytest.mark.parametrize("content", ["", "1", "one two", "PID 1e300", "\xff"])
def test_what_is_no_sign_or_from_before_the_machine_started_counts_for_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "alive").mkdir()
    (tmp_path / "alive" / "beat@here").write_text(content.replace("PID", str(os.getpid())), encoding="latin-1")
    assert signs_of_life.age(tmp_path, "beat@here") is None


def test_a_name_leads_nowhere_else(tmp_path: Path) -> None:
    signs_of_life.give(tmp_path, "../../beat@here")
    assert [path.name for path in (tmp_path / "alive").iterdir()] == [".._.._beat@here"]
