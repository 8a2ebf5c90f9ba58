"""The facts of a C++ or Objective-C file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.model import Facts


class Place(TypedDict):
    """Where something stands: 1-based.  when: only a condition compiles it."""

    line: int
    column: int
    end: int
    when: NotRequired[bool]


class PartFact(Place):
    """A section or subcase.  outer: names of those around it; dynamic: its name is made when it runs."""

    name: str
    outer: list[str]
    status: NotRequired[str]
    dynamic: NotRequired[bool]


class Definition(Place):
    """What is or may be a test, with the suites around it and the parts in it."""

    suites: list[str]
    status: NotRequired[str]
    parts: NotRequired[list[PartFact]]


class TestFact(Definition):
    """A test.  owner: as of its macro (see vocabulary); loose: only includes can say that it is a test.

    dynamic: it is run with values or types; cases: how many the source lists.
    """

    owner: str
    name: str
    loose: NotRequired[bool]
    dynamic: NotRequired[bool]
    cases: NotRequired[int]


class UseFact(Definition):
    """A call of a macro that may be one of the project and stand for tests.  arguments: as they are written."""

    macro: str
    arguments: list[str]


class MacroFact(TypedDict):
    """A macro of the project.  calls: name and arguments of the macros it calls, in JSON a list of two."""

    parameters: list[str]
    calls: list[tuple[str, list[str]]]


class ClassFact(TypedDict):
    """A class of Objective-C, where it says what it inherits."""

    name: str
    base: str


class MethodFact(Place):
    """A method of Objective-C that is a test if its owner, a class, is a test case."""

    owner: str
    name: str
    status: NotRequired[str]


class ExampleFact(Place):
    """A test of Objective-C that is a block with a title.  owner: as of the macro around it (see vocabulary_objc)."""

    owner: str
    name: str
    suites: list[str]
    status: NotRequired[str]
    dynamic: NotRequired[bool]


class CppFacts(TypedDict, total=False):
    """One file; what is empty is left out.

    includes: as they are written; uses: calls of unknown macros; macros: name -> what it stands for; own: macros of
    test libraries that the file defines itself; classes, methods, examples: of Objective-C.
    """

    includes: list[str]
    tests: list[TestFact]
    uses: list[UseFact]
    macros: dict[str, MacroFact]
    own: list[str]
    classes: list[ClassFact]
    methods: list[MethodFact]
    examples: list[ExampleFact]


def shape(facts: Facts) -> CppFacts:
    """Facts by their types."""
    return cast(CppFacts, facts)
