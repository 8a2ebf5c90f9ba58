"""The facts of a Robot Framework file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts


class Said(TypedDict, total=False):
    """What a file or a test says of running.  skips: "always" or "maybe"; tags: those with a meaning of their own."""

    skips: str
    tags: list[str]


class TestFact(Placed, Said):
    """A test.

    rows: statements, which are data if it has a template; blocks: some of these may run several times, or never;
    templated: it has a template, or none by `NONE`; untagged: tags that it drops.
    """

    name: str
    rows: NotRequired[int]
    blocks: NotRequired[bool]
    templated: NotRequired[bool]
    untagged: NotRequired[list[str]]


class RobotFacts(Said, total=False):
    """One file; what is empty is left out.

    name: of the suite, if it has another than its file; templated: its tests have a template; driven: a library makes
    them of data.
    """

    tests: list[TestFact]
    name: str
    templated: bool
    driven: bool


def shape(facts: Facts) -> RobotFacts:
    """Facts by their types."""
    return cast(RobotFacts, facts)
