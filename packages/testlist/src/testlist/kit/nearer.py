"""Names that a function gives to what stands in it: a call of such a name means no function of a file."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from tree_sitter import Node

from testlist.kit.checking import Reading
from testlist.sandbox.syntax import named, text

#: nodes in nodes that are looked into
DEEPEST: Final = 200
NAME, ALL = "identifier", "*"
#: what a call of the object itself, or of its class, begins with
ITSELF: Final = ("self", "cls")


def declared(node: Node | None, kinds: Mapping[str, str], depth: int = 0) -> Iterator[str]:
    """The names that what stands in a node declares.

    kinds: type of a declaration -> the field that has its name; `*` for all that is in it, an empty one for the first.
    """
    for child in named(node) if depth < DEEPEST else ():
        if (field := kinds.get(child.type)) is not None:
            inside = list(named(child))
            parts = inside if field == ALL else child.children_by_field_name(field) if field else inside[:1] or [child]
            for part in parts:
                yield from _names(part, 0)
        yield from declared(child, kinds, depth + 1)


def _names(node: Node, depth: int) -> Iterator[str]:
    if node.type == NAME or not node.named_child_count:
        yield text(node)
    elif depth < DEEPEST and ("pattern" in node.type or "list" in node.type):
        for child in named(node):
            yield from _names(child, depth + 1)


def without(reading: Reading, names: Iterable[str]) -> None:
    """Forget calls of names that mean something nearer."""
    nearer: Collection[str] = {*names}.difference(ITSELF)
    for call in [*reading.calls] if nearer else ():
        owner, _, rest = call.partition(".")
        if (rest if owner == ITSELF[0] else owner) in nearer:
            del reading.calls[call]
