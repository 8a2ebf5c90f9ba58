"""What an expression of Python says without being run: the dotted names in it, its cases, the strings it lists."""

from typing import Final

from tree_sitter import Node

from testlist.languages.python.shape import Mark
from testlist.sandbox.syntax import named, text

#: suffix of files that a decorator of pytest-bdd is given
FEATURE: Final = ".feature"
WORDS: Final = frozenset({"identifier", "attribute", "dotted_name"})


def calls(node: Node | None) -> int | bool:
    """How often something is called in a row: True for once, which is nearly always so."""
    count = 0
    while node is not None and node.type == "call":
        node, count = node.child_by_field_name("function"), count + 1
    return count if count > 1 else True


def marks_of(node: Node | None) -> list[Mark]:
    """Heads of a value: one of a name, attribute or call, several of a list, tuple or conditional."""
    if node is None:
        return []
    if node.type in ("list", "tuple", "conditional_expression", "parenthesized_expression", "expression_list"):
        return [mark for child in named(node) for mark in marks_of(child)]
    dotted = dotted_of(node)
    return [(dotted, _cases(node))] if dotted else []


def dotted_of(node: Node) -> str:
    """`a.b.c` of a name, an attribute, a call or a subscript; empty for anything else."""
    while node.type in ("call", "subscript"):
        inner = node.child_by_field_name("function" if node.type == "call" else "value")
        if inner is None:
            return ""
        node = inner
    if node.type not in WORDS:
        return ""
    words = "".join(text(node).split())
    return words if all(word.isidentifier() for word in words.split(".")) else ""


def _cases(node: Node) -> int | None:
    """Length of the literal table in `parametrize(names, table)`."""
    if node.type != "call" or not dotted_of(node).endswith("parametrize"):
        return None
    arguments = list(named(node.child_by_field_name("arguments")))
    plain = [child for child in arguments if child.type != "keyword_argument"]
    by_name = [child for child in arguments if text(child.child_by_field_name("name")) == "argvalues"]
    table = plain[1] if len(plain) > 1 else by_name[0].child_by_field_name("value") if by_name else None
    if table is None or table.type not in ("list", "tuple"):
        return None
    rows = list(named(table))
    return None if any(row.type == "list_splat" for row in rows) else len(rows)


def partial_of(node: Node) -> str:
    """Dotted name of the function that `partial(...)` is given; empty for anything else."""
    is_partial = dotted_of(node).rpartition(".")[2] == "partial"
    given = next(named(node.child_by_field_name("arguments")), None) if is_partial else None
    return dotted_of(given) if given is not None else ""


def feature_of(node: Node | None) -> str:
    """The feature file whose name a call is given as a plain string; empty if there is none."""
    given = list(named(node.child_by_field_name("arguments"))) if node is not None and node.type == "call" else []
    values = (one.child_by_field_name("value") if one.type == "keyword_argument" else one for one in given)
    written = (string_of(value) for value in values if value is not None and value.type == "string")
    return next((one for one in written if one.endswith(FEATURE)), "")


def strings_of(node: Node, *, alone: bool) -> list[str]:
    """Plain strings that a list or tuple holds.  alone: a string by itself counts as well."""
    held = [node] if alone and node.type == "string" else named(node)
    return [string_of(child) for child in held if child.type == "string"]


def string_of(node: Node) -> str:
    """Value of a plain string literal."""
    return "".join(text(child) for child in node.named_children if child.type == "string_content")
