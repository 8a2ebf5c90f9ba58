"""Two tiers of tests: the first leaves out the proofs and nothing else, and CI runs both."""

from __future__ import annotations

import re

import pytest

from tests.contract.conftest import ROOT
from tests.tiers import proofs


def recipe(target: str) -> str:
    """The commands of a target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert found is not None, target
    return found[1].strip()


def runs(target: str) -> str:
    """Which tests the target runs."""
    found = re.search(r'^\$\(PYTEST\) -m "?([^"$]+)"?( \$\(DURATIONS\))?$', recipe(target))
    assert found is not None, target
    return found[1]


def test_the_first_tier_leaves_out_proofs_and_what_a_release_must_show_and_nothing_else() -> None:
    assert runs("test") == "not proof and not release"
    assert runs("test-all") == "not release"
    assert runs("prove-release") == "release"


def test_a_quick_run_is_of_the_first_tier() -> None:
    assert '$(PYTEST) -m "not proof and not release" $$chosen' in recipe("quick")


def test_ci_runs_both_tiers_and_keeps_the_durations() -> None:
    last = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert last == "make test-all DURATIONS_FILE=.durations.json"


def test_parameters_are_all_run_by_both_tiers_together_and_few_by_the_first() -> None:
    first, second = proofs(["a", "b"], but=["a"])
    assert first == "a"
    assert second == pytest.param("b", marks=pytest.mark.proof)


def test_a_parameter_of_the_first_tier_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="shop"):
        proofs(["a", "b"], but=["shop"])
