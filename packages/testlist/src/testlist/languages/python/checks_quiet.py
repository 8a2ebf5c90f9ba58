"""Whether anything in a body could raise.  What is not known to be harmless could."""

from typing import Final

from tree_sitter import Node

from testlist.languages.python.checks_expressions import NOTHING, literal
from testlist.languages.python.facts_values import dotted_of
from testlist.languages.python.vocabulary_checks import CASE, HARMLESS, INSTANCES
from testlist.sandbox.syntax import named, text

#: statements and expressions that raise nothing by themselves
CALM: Final = frozenset(
    {"expression_statement", "assignment", "if_statement", "block", "else_clause", "elif_clause", "pass_statement",
     "return_statement", "assert_statement", "try_statement", "except_clause", "finally_clause", "ellipsis",
     "list", "tuple", "dictionary", "set", "pair", "not_operator", "boolean_operator", "comparison_operator",
     "parenthesized_expression", "conditional_expression", "argument_list", "expression_list"}
)  # fmt: skip
#: what an except clause names
ERRORS: Final = frozenset({"Exception", "BaseException", "AssertionError"})


def takes_any(function: Node) -> bool:
    """Whether a function takes anything but its instance."""
    return any(text(child) not in INSTANCES for child in named(function.child_by_field_name("parameters")))


def is_quiet(statements: list[Node]) -> bool:
    """Whether nothing in a body may raise."""
    known = set(ERRORS)
    return all(_is_calm(one, known) for one in statements)


def _is_calm(node: Node, known: set[str]) -> bool:
    """Whether this raises nothing.  known: names that are assigned above, which are added to."""
    kind = node.type
    if literal(node) is not NOTHING:
        return True
    if kind == "identifier":
        return text(node) in known
    if kind == "call":
        owner, _, name = dotted_of(node).rpartition(".")
        is_known = dotted_of(node) in HARMLESS or (owner in INSTANCES and name in CASE)
        return is_known and all(_is_calm(child, known) for child in named(node.child_by_field_name("arguments")))
    if kind == "assignment":
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if target is None or target.type != "identifier" or value is None or not _is_calm(value, known):
            return False
        known.add(text(target))
        return True
    return kind in CALM and all(_is_calm(child, known) for child in named(node))
