"""How often a loop in an Elixir module goes round, as far as its elements are listed in the source."""

from collections.abc import Iterable

from tree_sitter import Node

from testlist.languages.elixir.facts_calls import arguments, called, listed
from testlist.sandbox.syntax import named, text


def elements(node: Node, cases: int | None) -> int | None:
    """How often a loop goes round in all, if what it goes through is listed."""
    for one in sources(node):
        count = listed(one)
        cases = None if count is None or cases is None else cases * count
    return cases


def sources(node: Node) -> Iterable[Node]:
    """What a loop goes through; a filter among it is no list."""
    given = [one for one in arguments(node) if one.type != "keywords"]
    if called(node) != "for":
        return given[:1]
    return [list(named(one))[-1] if is_generator(one) else one for one in given]


def is_generator(node: Node) -> bool:
    """`a <- list` with a pattern that every element has."""
    return (
        node.type == "binary_operator"
        and text(node.child_by_field_name("operator")) == "<-"
        and text(next(named(node), None)).isidentifier()
    )
