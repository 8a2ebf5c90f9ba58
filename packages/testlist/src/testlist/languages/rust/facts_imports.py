"""What a Rust file imports as `test`: names in `use`, and crates whose macros it takes all together."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.languages.rust.facts_tokens import is_name, name_of
from testlist.languages.rust.shape import Attribute, ExternItem, UseItem
from testlist.sandbox.syntax import text

#: braces in braces that are followed
DEPTH: Final = 16
TEST: Final = "test"


def used(node: Node) -> Iterator[UseItem]:
    """Names that a `use` binds to `test`."""
    argument = node.child_by_field_name("argument")
    public = any(child.type == "visibility_modifier" for child in node.named_children)
    if argument is not None and TEST in text(argument):
        for path in _paths(argument, "", DEPTH):
            written, _, alias = path.partition(" as ")
            source, _, last = written.rpartition("::")
            if source and (alias or last) == TEST:
                item: UseItem = {"k": "use", "path": source, "of": last, "name": TEST}
                if public:
                    item["public"] = True
                yield item


def _paths(node: Node, before: str, depth: int) -> Iterator[str]:
    """`a::b as c` of each name in a tree of them."""
    if not depth:
        return
    if node.type == "scoped_use_list":
        path = node.child_by_field_name("path")
        inner = node.child_by_field_name("list")
        prefix = f"{before}{_joined(path)}::" if path is not None else before
        yield from _paths(inner, prefix, depth - 1) if inner is not None else ()
    elif node.type == "use_list":
        for child in node.named_children:
            yield from _paths(child, before, depth - 1)
    elif node.type == "use_as_clause":
        yield f"{before}{_joined(node.child_by_field_name('path'))} as {_joined(node.child_by_field_name('alias'))}"
    elif node.type in ("identifier", "scoped_identifier"):
        yield before + _joined(node)


def _joined(node: Node | None) -> str:
    return "".join(text(node).split()).removeprefix("::").replace("r#", "")


def extern(node: Node, attributes: Sequence[Attribute]) -> Iterator[ExternItem]:
    """A crate whose macros are taken into the crate at hand."""
    given = next((tokens for path, tokens in attributes if path == "macro_use"), None)
    if given is not None:
        listed = [name_of(one) for group in given if isinstance(group, list) for one in group[1:] if is_name(one)]
        item: ExternItem = {"k": "extern", "name": _joined(node.child_by_field_name("name"))}
        if listed:
            item["only"] = listed
        yield item
