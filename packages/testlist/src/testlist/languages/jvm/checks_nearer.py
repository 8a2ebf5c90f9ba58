"""Functions that a Kotlin function has for itself: written in it, or given to it.  In Java a name calls a method."""

from collections.abc import Iterable, Iterator
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

#: deeper trees are given up
DEEPEST: Final = 200
NAME, LOCAL, VALUE = "identifier", "function_declaration", "variable_declaration"
TYPES: Final = frozenset({"function_type", "nullable_type"})
FUNCTIONS: Final = frozenset({"lambda_literal", "anonymous_function", "callable_reference"})


def nearer(node: Node, depth: int = 0) -> Iterator[str]:
    """Their names, by what stands in a function.  Other values leave a function of their name as it is."""
    for child in named(node) if depth < DEEPEST else ():
        inside = list(named(child))
        if child.type == LOCAL:
            yield text(child.child_by_field_name("name"))
        elif child.type == "parameter" and any(one.type in TYPES for one in inside):
            yield from _named(inside[:1])
        elif child.type == "lambda_parameters":
            yield from (name for one in inside for name in _named(named(one)))
        elif child.type == "property_declaration" and any(one.type in FUNCTIONS for one in inside):
            yield from (name for one in inside if one.type == VALUE for name in _named(named(one)))
        yield from nearer(child, depth + 1)


def _named(nodes: Iterable[Node]) -> Iterator[str]:
    yield from (text(one) for one in nodes if one.type == NAME)
