"""What the `use` lines and the modules of one Rust file say of names, wherever in it they stand."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

#: names of a file; braces in braces that are followed, and modules in modules
MOST: Final = 300
DEPTH: Final = 16
#: of names that are taken all together, what stands for the name, with a number behind it
ALL: Final = "*"


def uses(root: Node) -> dict[str, str]:
    """Name -> its path by dots; `*1` and others -> paths of which all names are taken; a module -> `self.a`."""
    found: dict[str, str] = {}
    for name, path in _items(root, 0):
        if len(found) < MOST:
            found[f"{ALL}{len(found)}" if name == ALL else name] = path
    return found


def _items(block: Node, depth: int) -> Iterator[tuple[str, str]]:
    for node in named(block) if depth < DEPTH else ():
        body = node.child_by_field_name("body")
        if node.type == "use_declaration":
            for name, path in _paths(node.child_by_field_name("argument"), "", DEPTH):
                if outer := _outside(path, depth):
                    yield name, outer
        elif node.type == "mod_item" and body is not None:
            yield from _items(body, depth + 1)
        elif node.type == "mod_item":
            name = text(node.child_by_field_name("name"))
            yield name, f"self.{name}"


def _outside(path: str, depth: int) -> str:
    """A path as the file itself would write it; empty for one in the file.  depth: modules around it there."""
    parts = path.split(".")
    above = next((place for place, part in enumerate(parts) if part != "super"), len(parts))
    if not depth or parts[0] not in ("super", "self"):
        return path
    return ".".join(parts[depth:]) if above > depth else ""


def _paths(node: Node | None, before: str, depth: int) -> Iterator[tuple[str, str]]:
    """Each name in a tree of them, with its path."""
    if node is None or not depth:
        return
    if node.type == "scoped_use_list":
        prefix = f"{before}{_joined(node.child_by_field_name('path'))}."
        yield from _paths(node.child_by_field_name("list"), prefix, depth - 1)
    elif node.type == "use_list":
        for child in named(node):
            yield from _paths(child, before, depth - 1)
    elif node.type == "use_as_clause":
        yield _joined(node.child_by_field_name("alias")), before + _joined(node.child_by_field_name("path"))
    elif node.type == "use_wildcard":
        yield ALL, before + _joined(next(named(node), None))
    elif node.type in ("identifier", "scoped_identifier", "self"):
        path = (before + _joined(node)).removesuffix(".self")
        yield path.rpartition(".")[2], path


def _joined(node: Node | None) -> str:
    return "".join(text(node).split()).removeprefix("::").replace("r#", "").replace("::", ".")
