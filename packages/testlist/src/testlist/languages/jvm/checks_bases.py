"""Where else the methods of a class in Java or Kotlin are that its own call by their names alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.languages.jvm.checks_calls import parts, plain
from testlist.languages.jvm.checks_functions import CLASSES, COMPANION, DEEPEST, Function
from testlist.sandbox.syntax import text

#: what lists the bases of a class
LISTS: Final = frozenset({"superclass", "super_interfaces", "extends_interfaces", "type_list", "delegation_specifiers"})
#: the name of a base, before its arguments and what it is handed
NAME: Final = re.compile(r"[\w.]+")
#: classes of a file
MOST: Final = 500


def bases_of(functions: Sequence[Function]) -> dict[str, list[str]]:
    """Each class by its name with those around it: its bases, its companion, the classes around it, and the file.

    A class without bases has nothing here: its names are looked for in the whole file.
    """
    found = dict(islice(_classes(_root(functions[0]), "", 0), MOST)) if functions else {}
    return {name: list(_line(name, node, found)) for name, node in found.items()}


def _root(function: Function) -> Node:
    node = function.classes[0] if function.classes else function.node
    while node.parent is not None:
        node = node.parent
    return node


def _classes(node: Node, around: str, depth: int) -> Iterator[tuple[str, Node]]:
    for child in parts(node) if depth < DEEPEST else ():
        inner = around
        if child.type in CLASSES:
            inner = f"{around}.{plain(child.child_by_field_name('name')) or COMPANION}".lstrip(".")
            yield inner, child
        yield from _classes(child, inner, depth + 1)


def _line(name: str, node: Node, known: Mapping[str, Node]) -> Iterator[str]:
    around = [name.rsplit(".", count)[0] for count in range(1, name.count(".") + 1)]
    bases = [_whole(base, [name, *around], known) for base in _bases(node)]
    if bases:
        yield from bases
        yield from (one for one in (f"{name}.{COMPANION}", *around) if one in known)
        yield ""


def _bases(node: Node) -> Iterator[str]:
    for child in parts(node):
        if child.type in LISTS:
            yield from _bases(child)
        elif node.type in LISTS and (found := NAME.match(text(child))) is not None:
            yield found[0]


def _whole(base: str, around: Sequence[str], known: Mapping[str, Node]) -> str:
    """The name of a base with those around it, if it stands in the file."""
    return next((one for place in around if (one := f"{place}.{base}") in known), base)
