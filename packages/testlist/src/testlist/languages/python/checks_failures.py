"""Failures that Python makes under a condition, or around an `except`: `if a != b: self.fail()`."""

from collections.abc import Iterable, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.failures import Attempt, Branch, Clause, Failures
from testlist.languages.python.checks_expressions import asserted
from testlist.languages.python.facts_values import dotted_of
from testlist.languages.python.vocabulary_checks import FAIL, INSTANCES
from testlist.sandbox.syntax import named, text

BRANCHES: Final = frozenset({"if_statement", "elif_clause"})
ELSE: Final = "else_clause"
EXCEPT: Final = "except_clause"


class PythonFailures(Failures):
    """Failures of one body."""

    nodes = BRANCHES | {"try_statement"}

    def branch(self, node: Node) -> Branch | None:
        """See Failures; what follows the last condition is its `else`."""
        condition = node.child_by_field_name("condition") if node.type in BRANCHES else None
        if condition is None:
            return None
        after = node.next_named_sibling if node.type == "elif_clause" else node.child_by_field_name("alternative")
        other = after if after is not None and after.type == ELSE else None
        return Branch(condition, list(named(node.child_by_field_name("consequence"))), _body(other))

    def attempt(self, node: Node) -> Attempt | None:
        """See Failures."""
        if node.type != "try_statement":
            return None
        clauses = [Clause(_kinds(one), _block(one)) for one in named(node) if one.type == EXCEPT]
        otherwise = next((one for one in named(node) if one.type == ELSE), None)
        return Attempt(_body(node), clauses, _body(otherwise))

    def fails(self, node: Node) -> bool:
        """See Failures."""
        owner, _, last = dotted_of(node).rpartition(".") if node.type == "call" else ("", "", "")
        return last == FAIL and owner in {*INSTANCES, "pytest"}

    def conditions(self, node: Node, where: int, *, negated: bool) -> Iterable[CheckFact]:
        """See Failures."""
        return asserted(node, where, negated=negated)


def _body(node: Node | None) -> Sequence[Node]:
    return list(named(node.child_by_field_name("body"))) if node is not None else []


def _block(clause: Node) -> Sequence[Node]:
    return [one for child in named(clause) if child.type == "block" for one in named(child)]


def _kinds(clause: Node) -> list[str]:
    """The types that an `except` names."""
    caught = next((child for child in named(clause) if child.type != "block"), None)
    if caught is not None and caught.type == "as_pattern":
        caught = next(named(caught), None)
    if caught is None:
        return []
    return [text(one) for one in (named(caught) if caught.type == "tuple" else [caught])]
