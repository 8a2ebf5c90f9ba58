"""The facts of a Swift file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.model import Facts


class Marks(TypedDict, total=False):
    """What `@Test` or `@Suite` says of a declaration: keys as in the facts that take them over."""

    status: str
    when: bool
    dynamic: bool
    cases: int


class TypeFact(TypedDict):
    """A type or an extension.  name: with those around it; bases: last names; kind: its keyword.

    status: skipped, if `@Suite` says so; when: a condition decides on it.
    """

    name: list[str]
    bases: list[str]
    kind: str
    status: NotRequired[str]
    when: NotRequired[bool]


class FunctionFact(TypedDict):
    """A function that may be a test.  outer: types around it; marked: it bears `@Test`.

    line, column, end: 1-based.  dynamic, cases: of a parameterized test; when: a condition decides whether it runs.
    """

    name: str
    outer: list[str]
    line: int
    column: int
    end: int
    marked: NotRequired[bool]
    status: NotRequired[str]
    when: NotRequired[bool]
    dynamic: NotRequired[bool]
    cases: NotRequired[int]


class SwiftFacts(TypedDict, total=False):
    """One file; a list that is empty is left out."""

    types: list[TypeFact]
    functions: list[FunctionFact]


def shape(facts: Facts) -> SwiftFacts:
    """Facts by their types."""
    return cast(SwiftFacts, facts)
