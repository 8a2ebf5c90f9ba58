"""Inventories in JSON lines, as tests for a generator: of `fairlane inventory`, or of a truth file."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from app.domain.specification import Subject

#: a truth file has one name, `A::b` or `A > b`, in place of suites and a name
_TITLES = {"mocha", "vitest", "jest", "playwright", "cypress", "rspec", "node-test"}


def subjects(path: Path) -> list[Subject]:
    """The tests of one repository, in the order of the file."""
    return [subject for line in path.read_text(encoding="utf-8").splitlines() for subject in _subject(json.loads(line))]


def _subject(row: dict[str, object]) -> Iterator[Subject]:
    framework, name = str(row["framework"]), str(row["name"])
    suites = row.get("suites")
    *outer, name = [str(suite) for suite in suites] + [name] if isinstance(suites, list) else _parted(name, framework)
    status = row.get("status", "active")
    told = str(status[0] if isinstance(status, list) else status)
    line = row.get("line", 1)
    yield Subject(str(row["file"]), framework, tuple(outer), name, line if isinstance(line, int) else 1, told)


def _parted(name: str, framework: str) -> list[str]:
    if framework in _TITLES:
        return re.split(r" > ", name)
    if framework == "minitest" and (found := re.search(r"::(test_.*)$", name)):
        return [name[: found.start()], found[1]]
    return name.split("::")
