"""What a call that registers a test is given: a title, options and something to run, in any of the usual orders."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript.facts_literals import string_of, title_of
from testlist.sandbox.syntax import named, text

FUNCTIONS: Final = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function", "method_definition"}
)
LITERALS: Final = frozenset({"string", "template_string"})
#: what a variable may be given that means no test
CONSTANT: Final = (
    FUNCTIONS
    | LITERALS
    | {"object", "array", "number", "true", "false", "null", "regex", "new_expression", "class", "undefined"}
)
#: arguments that are never titles
NO_TITLE: Final = FUNCTIONS | {
    "object",
    "array",
    "number",
    "regex",
    "true",
    "false",
    "null",
    "undefined",
    "spread_element",
}
#: second arguments that make the first one a title, whatever it is
RUNNABLE: Final = FUNCTIONS | {"identifier", "member_expression", "call_expression", "object"}
#: a function, or a call that makes one
WRAPPED: Final = FUNCTIONS | {"call_expression"}
#: options that keep a test from running, and values of theirs that are plain to see
DECIDING: Final = frozenset({"skip", "ignore", "todo"})
FIXED: Final = LITERALS | {"true", "false", "undefined", "null", "number", "method_definition"}
ANONYMOUS: Final = "<anonymous>"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call that may register a test.

    title: as shown.  form: what came instead of a title, if none did: function, object or name.

    body: something to run was given.  options: keys that are set; depends: one of them is computed and decides
    whether a test runs.  inside: what may hold further calls.
    outer: titles of the suite that was named before the title.
    """

    title: str
    form: str = ""
    body: bool = False
    options: list[str] = field(default_factory=list)
    inside: list[Node] = field(default_factory=list)
    outer: tuple[str, ...] = ()
    depends: bool = False

    @property
    def registers(self) -> bool:
        """Whether they could only be those of a test, whatever is called."""
        return self.body and self.form in ("", "object")


def read(  # noqa: PLR0911 - one a form
    arguments: Node | None, handles: Mapping[str, tuple[str, ...]], at: int = 0
) -> Arguments | None:
    """Read the arguments of a call; None if they are none of a test.

    handles: variables that hold a suite.  at: how many come before the title.
    """
    given = list(named(arguments))[at:] if arguments is not None and arguments.type == "arguments" else []
    if not given:
        return None
    if len(given) > 1 and given[0].type == "identifier" and (outer := handles.get(text(given[0]))):
        return _read_titled(given[1:], outer)
    if titled(given):
        return _read_titled(given)
    if given[0].type in FUNCTIONS:
        title = text(given[0].child_by_field_name("name")) or ANONYMOUS
        return Arguments(title, "function", body=True, inside=given)
    if given[0].type == "object":
        return _read_object(given)
    if given[0].type in ("identifier", "member_expression", "call_expression"):
        return Arguments(title_of(given[0]), "name", body=True)
    return None


def _read_titled(given: list[Node], outer: tuple[str, ...] = ()) -> Arguments:
    """A title, then options and functions in any order."""
    rest = given[1:]
    return Arguments(
        title_of(given[0]),
        body=any(argument.type != "object" for argument in rest),
        options=[key for argument in rest for key in truths(argument)],
        inside=rest,
        outer=outer,
        depends=any(map(depends, rest)),
    )


def _read_object(given: list[Node]) -> Arguments:
    """`{name: "title", ignore: true, fn() {}}`, or options before a function."""
    functions = [argument for argument in given[1:] if argument.type in FUNCTIONS]
    named_by = next((value for key, value in members(given[0]) if key == "name"), None)
    title = title_of(named_by) if named_by is not None else None
    if title is None:
        title = next((text(one.child_by_field_name("name")) for one in functions), "") or ANONYMOUS
    runs = bool(functions) or any(key == "fn" for key, _ in members(given[0]))
    options = list(truths(given[0]))
    return Arguments(title, "object", body=runs, options=options, inside=given, depends=depends(given[0]))


def members(table: Node) -> Iterator[tuple[str, Node]]:
    """Keys of an object and their values; a method is its own value."""
    for child in named(table):
        if child.type == "pair" and (value := child.child_by_field_name("value")) is not None:
            key = child.child_by_field_name("key")
            yield string_of(key) or text(key), value
        elif child.type == "method_definition":
            yield text(child.child_by_field_name("name")), child
        elif child.type == "shorthand_property_identifier":
            yield text(child), child


def titled(given: list[Node]) -> bool:
    """Whether arguments are those of a test: a title, and something to run if the title is no literal."""
    first = given[0]
    if first.type in LITERALS or (first.type == "binary_expression" and "+" in text(first)):
        return True
    return first.type not in NO_TITLE and len(given) > 1 and given[1].type in RUNNABLE


def title_at(arguments: Node | None) -> int:
    """Where the title probably is in a call of what may hand a test on: the last literal before a function."""
    given = list(named(arguments)) if arguments is not None else []
    first = next((number for number, one in enumerate(given) if one.type in FUNCTIONS), 0)
    return max((number for number, one in enumerate(given[:first]) if one.type in LITERALS), default=0)


def evident(arguments: Node | None) -> bool:
    """Whether arguments are a literal title and a function at their end, whatever it is wrapped in."""
    given = list(named(arguments)) if arguments is not None else []
    return len(given) > 1 and given[0].type in LITERALS and any(one.type in WRAPPED for one in given[1:])


def truths(argument: Node) -> Iterator[str]:
    """Keys of an options object that are switched on, such as {skip: true} or {skip: "reason"}."""
    for key, value in members(argument) if argument.type == "object" else ():
        if value.type == "true" or (value.type in LITERALS and string_of(value) != ""):
            yield key


def depends(argument: Node) -> bool:
    """Whether an options object has {skip: expression}, whose value shows only at run time."""
    options = members(argument) if argument.type == "object" else ()
    return any(key in DECIDING and value.type not in FIXED for key, value in options)


def given_to(function: Node) -> str:
    """Name of the first parameter of a function."""
    if function.type not in FUNCTIONS:
        return ""
    one = function.child_by_field_name("parameter") or next(named(function.child_by_field_name("parameters")), None)
    name = text(one.child_by_field_name("pattern") or one) if one is not None else ""
    return name if name.isidentifier() else ""
