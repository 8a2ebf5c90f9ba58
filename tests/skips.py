"""A test that is left out says why: one that gives no reason fails, so that no run is green by leaving things out."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import pytest

#: What pytest writes where a test gives no reason.
NO_REASON = {"", "unconditional skip", "Skipped"}

_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return demand_a_reason((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return demand_a_reason((yield))


def demand_a_reason(report: _Report) -> _Report:
    """The report, as a failure if it is of a skip without a reason."""
    if not report.skipped:
        return report
    expected = getattr(report, "wasxfail", None)
    told = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
    reason = told if expected is None else expected.removeprefix("reason: ")
    if reason.strip() in NO_REASON:
        report.outcome, report.longrepr = "failed", "skipped, or expected to fail, without a reason"
        if expected is not None:
            del report.wasxfail
    return report
