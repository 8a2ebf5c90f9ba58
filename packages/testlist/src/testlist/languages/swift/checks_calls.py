"""Calls in Swift: their names, and what they are given with labels and as closures."""

from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

CLOSURE: Final = "lambda_literal"
#: words before an expression
WORDS: Final = frozenset({"try_expression", "await_expression"})


class Argument(NamedTuple):
    """One argument.  label: empty without one; value: an expression or a closure."""

    label: str
    value: Node


def bare(node: Node) -> Node:
    """An expression without `try` and `await` before it."""
    while node.type in WORDS and (inner := node.child_by_field_name("expr")) is not None:
        node = inner
    return node


def function_of(call: Node) -> Node | None:
    """What a call calls."""
    return next(named(call), None)


def name_of(call: Node) -> str:
    """`a.b` of what a call calls, `self.a` also for `Self.a`; empty for what has no name."""
    function = function_of(call)
    if function is None or function.type not in ("simple_identifier", "navigation_expression"):
        return ""
    words = "".join(text(function).split()).replace("`", "").replace("?", "")
    words = f"self.{words[5:]}" if words.startswith("Self.") else words
    return words if all(part.isidentifier() for part in words.split(".")) else ""


def suffix_of(node: Node | None) -> tuple[Node | None, str]:
    """`a` and `b` of `a.b`."""
    if node is None or node.type != "navigation_expression":
        return None, ""
    suffix = node.child_by_field_name("suffix")
    owner = node.child_by_field_name("target")
    return (bare(owner) if owner is not None else None), text(suffix).lstrip(".").strip()


def arguments(call: Node) -> list[Argument]:
    """What a call is given, closures behind it as well."""
    found: list[Argument] = []
    suffix = next((child for child in named(call) if child.type == "call_suffix"), None)
    label = ""
    for child in named(suffix):
        if child.type == "value_arguments":
            found += [
                Argument(text(one.child_by_field_name("name")), bare(value))
                for one in named(child)
                if (value := one.child_by_field_name("value")) is not None
            ]
        elif child.type == CLOSURE:
            found.append(Argument(label, child))
        label = text(child) if child.type == "simple_identifier" else ""
    return found
