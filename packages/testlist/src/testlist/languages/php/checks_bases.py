"""What the classes of one PHP file inherit and use, by full names with a backslash before them."""

from collections.abc import Iterator
from itertools import islice

from tree_sitter import Node

from testlist.languages.php.facts_names import Names
from testlist.sandbox.syntax import named, text

#: imports of a file, and bases of a class
MOST_IMPORTS, MOST_BASES = 300, 20


def bases_of(node: Node, names: Names) -> list[str]:
    """Traits of a class, then what it extends, as methods are looked up."""
    return list(islice((f"\\{names.full(one)}" for one in (*_traits(node), *_extended(node))), MOST_BASES))


def imports_of(names: Names) -> dict[str, str]:
    """Alias in lower case -> full name; of no alias, the namespace of the file."""
    return {**dict(islice(names.uses.items(), MOST_IMPORTS)), "": names.namespace}


def _traits(node: Node) -> Iterator[str]:
    for member in named(node.child_by_field_name("body")):
        if member.type == "use_declaration":
            yield from (text(one) for one in named(member) if one.type != "use_list")


def _extended(node: Node) -> Iterator[str]:
    for child in named(node):
        if child.type == "base_clause":
            yield from map(text, named(child))
