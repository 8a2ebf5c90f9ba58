"""What the types of one Swift file inherit from; extensions in other files may go on with each of them."""

import re
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

#: types of a file; types in types that are looked into
MOST, DEEPEST = 500, 40
#: a type without what it is given
PLAIN: Final = re.compile(r"[\w.]+")


def bases_of(root: Node) -> dict[str, list[str]]:
    """Each type by its name with those around it: itself, its bases, and at last functions outside of types."""
    found: dict[str, list[str]] = {}
    _read(root, (), 0, found)
    return {name: [*dict.fromkeys((name, *bases)), ""] for name, bases in found.items()}


def _read(block: Node, types: tuple[str, ...], depth: int, found: dict[str, list[str]]) -> None:
    for node in named(block) if depth < DEEPEST else ():
        body = node.child_by_field_name("body")
        if node.type == "class_declaration" and body is not None:
            name = PLAIN.match(text(node.child_by_field_name("name")))
            inner = (*types, *(name[0].split(".") if name is not None else ()))
            heads = (PLAIN.match(text(one)) for one in named(node) if one.type == "inheritance_specifier")
            if len(found) < MOST:
                found.setdefault(".".join(inner), []).extend(one[0] for one in heads if one is not None)
            _read(body, inner, depth + 1, found)
        elif node.type == "ERROR":
            _read(node, types, depth + 1, found)
