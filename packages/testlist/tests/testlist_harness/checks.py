"""What tests check, as tests of that ask for it."""

from collections.abc import Callable, Mapping
from typing import Any

from testlist.model import Checks

#: files, path -> text; to what each test of them checks, by its name
Read = Callable[[dict[str, str]], dict[str, Checks | None]]
#: what a test calls in other files, as (name of the call, its file)
Followed = list[tuple[str, str]]


def only(found: Mapping[str, Checks | None]) -> list[dict[str, Any]]:
    """The checks of the only test, without their lines."""
    [checks] = each(found)
    assert checks is not None
    return checks


def each(found: Mapping[str, Checks | None]) -> list[list[dict[str, Any]] | None]:
    """The checks of each test in order, without their lines; None where nobody can say."""
    return [None if one is None else [_without_line(check) for check in one.checks] for one in found.values()]


def followed(read: Read, files: dict[str, str], name: str = "") -> Followed:
    """The checks of a test that stand in other files."""
    found = read(files)
    checks = found[name] if name else next(iter(found.values()))
    assert checks is not None
    return [(one["by"], one["file"]) for one in checks.checks if "file" in one]


def _without_line(check: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in check.items() if key != "line"}
