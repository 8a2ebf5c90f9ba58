"""No test is left out in silence."""

from __future__ import annotations

import pytest

from tests import skips

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


def test_a_skip_without_a_reason_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    found = pytester.inline_run("-p", "no:randomly", plugins=[skips])
    passed, skipped, failed = found.listoutcomes()
    assert sorted(report.location[2] for report in failed) == ["test_expected", "test_left", "test_marked"]
    assert sorted(report.location[2] for report in skipped) == [
        "test_expected_with_a_reason", "test_left_with_a_reason", "test_marked_with_a_reason",
    ]  # fmt: skip
    assert [report.location[2] for report in passed] == ["test_runs"]


def test_a_module_left_out_without_a_reason_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(silent="import pytest\npytest.skip(allow_module_level=True)")
    pytester.makepyfile(told="import pytest\npytest.skip('no such machine', allow_module_level=True)")
    found = pytester.inline_run("-p", "no:randomly", "silent.py", "told.py", plugins=[skips])
    assert [report.nodeid for report in found.getfailedcollections()] == ["silent.py"]
