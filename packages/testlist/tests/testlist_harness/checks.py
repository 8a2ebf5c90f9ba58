"""What tests check, as tests of that ask for it."""

from collections.abc import Callable, Mapping
from typing import Any

from testlist.model import Checks

#: files, path -> text; to what each test of them checks, by its name
Read = Callable[[dict[str, str]], dict[str, Checks | None]]


def only(found: Mapping[str, Checks | None]) -> list[dict[str, Any]]:
    """The checks of the only test, without their lines."""
    [checks] = found.values()
    assert checks is not None
    return [{key: value for key, value in check.items() if key != "line"} for check in checks.checks]
