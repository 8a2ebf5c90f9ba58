"""Failures that Go makes under a condition: `if a != b { t.Fatal() }`, `switch { case a != b: t.Fatal() }`."""

from collections.abc import Collection, Iterable, Sequence

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.failures import Branch, Failures
from testlist.languages.go.checks_conditions import conditions, fails
from testlist.sandbox.syntax import named

BLOCK, CASE = "block", "expression_case"


class GoFailures(Failures):
    """Failures of one body.  handles: names that it gives to tests."""

    nodes = frozenset({"if_statement", CASE})

    def __init__(self, handles: Collection[str]) -> None:
        super().__init__()
        self.handles = handles

    def branch(self, node: Node) -> Branch | None:
        """See Failures; a `case` of a `switch` over nothing is one, too."""
        if node.type == CASE and node.parent is not None and node.parent.child_by_field_name("value") is None:
            condition = node.child_by_field_name("value")
            statements = [one for child in named(node) if child.type == "statement_list" for one in named(child)]
            return Branch(condition, statements) if condition is not None else None
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if condition is None:
            return None
        then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        return Branch(condition, _statements(then), _statements(other))

    def fails(self, node: Node) -> bool:
        """See Failures."""
        return node.type == "call_expression" and fails(node, self.handles)

    def conditions(self, node: Node, where: int, *, negated: bool) -> Iterable[CheckFact]:
        """See Failures."""
        return conditions(node, where, negated=negated)


def _statements(block: Node | None) -> Sequence[Node]:
    """Statements of a block; another branch is one itself."""
    if block is None or block.type != BLOCK:
        return [block] if block is not None else []
    return [one for child in named(block) for one in (named(child) if child.type == "statement_list" else (child,))]
