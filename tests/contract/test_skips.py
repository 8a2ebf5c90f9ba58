"""No test is left out in silence."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.contract.conftest import ROOT

pytest_plugins = ("pytester",)

TESTS = """
    import pytest

    @pytest.mark.skip
    def test_marked(): pass

    def test_left(): pytest.skip("")

    @pytest.mark.xfail
    def test_expected(): assert False

    @pytest.mark.skip(reason="no such machine")
    def test_marked_with_a_reason(): pass

    def test_left_with_a_reason(): pytest.skip("no such machine")

    @pytest.mark.xfail(reason="issue 1")
    def test_expected_with_a_reason(): assert False

    def test_runs(): pass
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """Run tests in a process of their own: one that has imported the service would start its database in that home."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return lambda *files: pytester.runpytest_subprocess("-v", "-p", "no:randomly", "-p", "tests.skips", *files)


@pytest.mark.proof
def test_a_skip_without_a_reason_fails(pytester: pytest.Pytester, run: Callable[..., pytest.RunResult]) -> None:
    pytester.makepyfile(TESTS)
    found = dict(re.findall(r"::(\w+) ([A-Z]+)", "\n".join(run().outlines)))
    assert found == {
        "test_marked": "ERROR",
        "test_left": "FAILED",
        "test_expected": "FAILED",
        "test_marked_with_a_reason": "SKIPPED",
        "test_left_with_a_reason": "SKIPPED",
        "test_expected_with_a_reason": "XFAIL",
        "test_runs": "PASSED",
    }


@pytest.mark.proof
def test_a_module_left_out_without_a_reason_fails(
    pytester: pytest.Pytester, run: Callable[..., pytest.RunResult]
) -> None:
    pytester.makepyfile(silent="import pytest\npytest.skip(allow_module_level=True)")
    pytester.makepyfile(told="import pytest\npytest.skip('no such machine', allow_module_level=True)")
    assert re.findall(r"^ERROR (\S+)", "\n".join(run("silent.py", "told.py").outlines), re.MULTILINE) == ["silent.py"]
