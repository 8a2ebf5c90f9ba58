"""What a Python function returns that may be a function: one of its own, a lambda, or what it calls for one."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.languages.python.shape import FunctionFact, Mark
from testlist.sandbox.syntax import named, text

#: branches in branches, and functions in functions, that are followed
DEPTH: Final = 5
#: returns of one function that are read; with more it is no maker of functions
MOST: Final = 4
#: statements that a `return` of the same function may stand in
AROUND: Final = frozenset(
    {"block", "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "finally_clause",
     "with_statement", "for_statement", "while_statement"}
)  # fmt: skip
#: what gives a function for the function that it is given
WRAPPERS: Final = frozenset(
    {"wraps", "update_wrapper", "partial", "partialmethod", "skip", "skipIf", "skipUnless", "expectedFailure"}
)
Marks = Callable[[Node | None], list[Mark]]
Made = FunctionFact | str


def makes(function: Node, marks_of: Marks, depth: int = DEPTH) -> list[Made]:
    """All that a function returns of the kind, in order.  marks_of: reads a decorator."""
    body = function.child_by_field_name("body")
    if body is None or not depth or any(child.type == "async" for child in function.children):
        return []
    returned: list[Node] = []
    inner: dict[str, Node] = {}
    for statement in _statements(body, DEPTH):
        if statement.type == "return_statement":
            returned += list(named(statement))[:1]
        else:
            inner[_name(statement)] = statement
    found: list[Made] = []
    for value in {text(value): value for value in returned}.values() if len(returned) <= MOST else ():
        one = _returned(value, inner, marks_of, depth)
        found += [] if one is None else [one]
    return found


def _statements(block: Node, depth: int) -> Iterator[Node]:
    """Returns of a function and functions that it writes, also in branches."""
    for node in named(block):
        inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if node.type == "return_statement" or (inner is not None and inner.type == "function_definition"):
            yield node
        elif node.type in AROUND and depth:
            yield from _statements(node, depth - 1)


def _name(statement: Node) -> str:
    definition = statement.child_by_field_name("definition") or statement
    return text(definition.child_by_field_name("name"))


def _returned(value: Node, inner: dict[str, Node], marks_of: Marks, depth: int) -> Made | None:
    if value.type == "lambda":
        return {}
    if value.type == "identifier" and text(value) in inner:
        return _function(inner[text(value)], marks_of, depth)
    if value.type != "call":
        return None
    called = marks_of(value)
    given = [text(child) for child in named(value.child_by_field_name("arguments")) if text(child) in inner]
    if given and called and called[0][0].rpartition(".")[2] in WRAPPERS:
        return _function(inner[given[0]], marks_of, depth, called)
    function = value.child_by_field_name("function")
    return called[0][0] if called and function is not None and function.type != "call" else None


def _function(statement: Node, marks_of: Marks, depth: int, outer: Sequence[Mark] = ()) -> Made:
    definition = statement.child_by_field_name("definition") or statement
    decorators = (child for child in named(statement) if child.type == "decorator")
    marks = [*outer, *(mark for child in decorators for mark in marks_of(next(named(child), None)))]
    more = makes(definition, marks_of, depth - 1)
    made: FunctionFact = {"marks": marks} if marks else {}
    if more:
        made["makes"] = more
    return made
