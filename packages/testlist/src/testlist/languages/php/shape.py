"""The facts of a PHP file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts


class MethodFact(Placed):
    """A public method that may be a test.  cases: rows written above it; data: a provider supplies its arguments.

    first: the status that its first statement gives it; when: a requirement decides whether it runs.
    """

    name: str
    cases: NotRequired[int]
    data: NotRequired[bool]
    first: NotRequired[str]
    when: NotRequired[bool]
    abstract: NotRequired[bool]


class ClassFact(TypedDict):
    """A class or a trait.  full: its name with the namespace; bases: its parent; traits: those that it uses.

    off: the status that its set-up gives to all tests; when: a requirement decides whether they run.
    """

    name: str
    full: str
    bases: list[str]
    traits: list[str]
    methods: list[MethodFact]
    trait: NotRequired[bool]
    abstract: NotRequired[bool]
    off: NotRequired[str]
    when: NotRequired[bool]


class CallFact(Placed):
    """A call that registers a test, a group or a hook with Pest.  root: the function; mods: methods called on it.

    chain: others are called on it; body: it was given something to run; loop: it stands in one; cases: rows of literal
    tables; calls: those inside of a describe.
    """

    root: str
    title: str
    mods: list[str]
    chain: NotRequired[bool]
    body: NotRequired[bool]
    loop: NotRequired[bool]
    cases: NotRequired[int]
    calls: NotRequired[list["CallFact"]]


class SuiteFact(TypedDict):
    """A `<testsuite>` of phpunit.xml.  directories: (path, prefix, suffix) of files, in JSON lists of three."""

    directories: list[tuple[str, str, str]]
    files: list[str]
    excluded: list[str]


class PhpFacts(TypedDict, total=False):
    """One file; a list that is empty is left out."""

    classes: list[ClassFact]
    calls: list[CallFact]


def shape(facts: Facts) -> PhpFacts:
    """Facts by their types."""
    return cast(PhpFacts, facts)
