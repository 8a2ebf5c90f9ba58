"""Keep how long each test took: `pytest -p tests.durations --durations-file=FILE`, as CI runs it.

The file is JSON: a row per test with its seconds of set-up, call and teardown, and its processor seconds, which count
the processes that it ended, but not the database.  The end of the run prints the sums by folder and by file.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROWS = 15
PROCESSOR = "processor seconds"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--durations-file", type=Path, metavar="FILE", help="keep the duration of each test as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Collect in the controlling process, to which xdist's workers report."""
    if config.getoption("--durations-file") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(config.getoption("--durations-file")))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the processor time of a test; it is reported with the next test's set-up, and the last one's is lost."""
    before = _processor()
    try:
        return (yield)
    finally:
        item.config.stash[_LAST] = (item.nodeid, _processor() - before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[pytest.TestReport]:
    """Send the note of the test before along."""
    report: pytest.TestReport = yield
    if report.when == "setup" and (last := item.config.stash.get(_LAST, None)):
        report.user_properties.append((PROCESSOR, last))
        del item.config.stash[_LAST]
    return report


_LAST = pytest.StashKey[tuple[str, float]]()


def _processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Durations:
    """The rows of a run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: defaultdict[str, dict[str, float]] = defaultdict(dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test."""
        self._rows[report.nodeid][report.when or ""] = round(report.duration, 4)
        for name, value in report.user_properties:
            if name == PROCESSOR:
                test, seconds = value  # type: ignore[misc]
                self._rows[test]["processor"] = round(seconds, 4)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the file, and print the sums."""
        self._path.write_text(json.dumps(self._rows, indent=0), encoding="utf-8")
        terminalreporter.section("seconds by folder, and of the slowest files")
        for depth, most in ((2, 99), (9, ROWS)):
            for name, seconds, processor in sums(self._rows, depth)[:most]:
                terminalreporter.write_line(f"{seconds:8.1f} s {processor:8.1f} s of processor  {name}")


def sums(rows: dict[str, dict[str, float]], depth: int) -> list[tuple[str, float, float]]:
    """Seconds and processor seconds by the first parts of the path, the longest first."""
    found: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for test, phases in rows.items():
        name = "/".join(PurePosixPath(test.partition("::")[0]).parts[:depth])
        found[name][0] += sum(seconds for phase, seconds in phases.items() if phase != "processor")
        found[name][1] += phases.get("processor", 0.0)
    return sorted(((name, *both) for name, both in found.items()), key=lambda one: -one[1])  # type: ignore[misc]
