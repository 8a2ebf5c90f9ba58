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


def test_the_first_tier_leaves_out_proofs_and_nothing_else() -> None:
    assert recipe("test") == f'{recipe("test-all")} -m "not proof"'
    assert recipe("test-all") == "$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(COVER)"


def test_ci_runs_both_tiers() -> None:
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == "make test-all"


def test_parameters_are_all_run_by_both_tiers_together_and_few_by_the_first() -> None:
    first, second = proofs(["a", "b"], but=["a"])
    assert first == "a"
    assert second == pytest.param("b", marks=pytest.mark.proof)


def test_a_parameter_of_the_first_tier_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="shop"):
        proofs(["a", "b"], but=["shop"])
