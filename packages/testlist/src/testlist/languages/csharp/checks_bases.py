"""What the types of one C# file inherit from, and where else methods are that they call by their names alone."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.csharp.facts import NESTED, TYPES
from testlist.languages.csharp.facts_attributes import dotted
from testlist.sandbox.syntax import named, text

PARTIAL: Final = "partial"
#: types of a file
MOST: Final = 500
#: deeper trees are given up
DEEPEST: Final = 200


def bases_of(root: Node) -> dict[str, list[str]]:
    """Each type by its name with those around it: itself if other files go on with it, its bases, what is around it."""
    found: dict[str, list[str]] = {}
    for around, node in _types(root, (), 0):
        name = ".".join((*around, text(node.child_by_field_name("name"))))
        if len(found) < MOST:
            itself = [name] if any(text(one) == PARTIAL for one in node.children if one.type == "modifier") else []
            outer = (".".join(around[:count]) for count in range(len(around), 0, -1))
            found.setdefault(name, []).extend([*itself, *_bases(node), *outer])
    return found


def _types(node: Node, around: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], Node]]:
    for child in named(node) if depth < DEEPEST and len(around) <= NESTED else ():
        inner = around
        if child.type in TYPES:
            yield around, child
            inner = (*around, text(child.child_by_field_name("name")))
        yield from _types(child, inner, depth + 1)


def _bases(node: Node) -> Iterator[str]:
    """Names of bases without namespaces and type arguments; interfaces too, as only their names differ."""
    bases = next((child for child in node.named_children if child.type == "base_list"), None)
    for child in named(bases):
        base = child.named_children[0] if child.type == "primary_constructor_base_type" else child
        if found := dotted(base):
            yield found.rpartition(".")[2]
