"""The facts of a C# file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.model import Facts

#: dotted name, and the switches that decide whether a test runs (see facts_attributes); in JSON a list of two
Attribute = tuple[str, list[str]]
#: dotted name, and how many type arguments it has; in JSON a list of two
Base = tuple[str, int]


class MethodFact(TypedDict):
    """A method that has attributes.  line, column: of its name; end: its last line; all 1-based.

    data: attributes of its parameters supply values; skip: its first statement skips it; when: only a condition
    compiles it.
    """

    name: str
    line: int
    column: int
    end: int
    attrs: list[Attribute]
    data: NotRequired[bool]
    skip: NotRequired[bool]
    when: NotRequired[bool]


class TypeFact(TypedDict):
    """A class, record or struct.  arity: its type parameters; ns: its namespace; outer: names of the types around it.

    mods: modifiers that matter to a runner; hidden: it or a type around it is not public; when: only a condition
    compiles it.
    """

    name: str
    arity: int
    ns: str
    outer: list[str]
    mods: list[str]
    bases: list[Base]
    attrs: list[Attribute]
    methods: list[MethodFact]
    hidden: NotRequired[bool]
    when: NotRequired[bool]


class CSharpFacts(TypedDict, total=False):
    """One file; what is empty is left out.

    usings, globals: namespaces in use, in the file and in its project; aliases: name -> what it stands for; internals:
    whether MSTest is set to run internal classes.
    """

    usings: list[str]
    globals: list[str]
    aliases: dict[str, str]
    types: list[TypeFact]
    internals: bool


def shape(facts: Facts) -> CSharpFacts:
    """Facts by their types."""
    return cast(CSharpFacts, facts)
