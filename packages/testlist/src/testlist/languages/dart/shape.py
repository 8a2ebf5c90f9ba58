"""The facts of a Dart file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts


class CallFact(Placed):
    """A call that may be a test or a group.  word: what is called; calls: those in its function.

    dynamic: it runs many times, or its title is made when it runs; when: a condition decides on it.
    """

    word: str
    title: str
    status: NotRequired[str]
    dynamic: NotRequired[bool]
    when: NotRequired[bool]
    calls: NotRequired[list["CallFact"]]


class MethodFact(Placed):
    """A method that is a test if its class is one of tests."""

    name: str
    status: NotRequired[str]


class ClassFact(TypedDict):
    """A class or a mixin.  bases: what it extends or mixes in; marked: it says that it holds tests."""

    name: str
    bases: list[str]
    methods: list[MethodFact]
    marked: NotRequired[bool]
    status: NotRequired[str]


class DartFacts(TypedDict, total=False):
    """One file; what is empty is left out.

    imports: also exports and parts; wrappers: functions that pass a title and a body on -> what they call; own: words
    of tests that it declares itself; status, when: of all its tests.
    """

    imports: list[str]
    calls: list[CallFact]
    wrappers: dict[str, str]
    own: list[str]
    classes: list[ClassFact]
    status: str
    when: bool


def shape(facts: Facts) -> DartFacts:
    """Facts by their types."""
    return cast(DartFacts, facts)
