"""The facts of a Bats file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts


class TestFact(Placed):
    """A test.  skips: it is skipped, "always" or "maybe"; focused: it has the tag of tests that run alone."""

    name: str
    skips: NotRequired[str]
    focused: NotRequired[bool]
    dynamic: NotRequired[bool]


class BatsFacts(TypedDict, total=False):
    """One file; what is empty is left out.  skips: what its setup does to all tests, as in TestFact."""

    tests: list[TestFact]
    skips: str


def shape(facts: Facts) -> BatsFacts:
    """Facts by their types."""
    return cast(BatsFacts, facts)
