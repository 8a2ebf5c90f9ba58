"""Failures that Java and Kotlin make under a condition, or around a `catch`: `if (a != b) fail();`."""

from collections.abc import Iterable, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.failures import Attempt, Branch, Clause, Failures
from testlist.languages.jvm.checks_asserts import asserted
from testlist.languages.jvm.checks_calls import call_of, parts
from testlist.languages.jvm.checks_conditions import conditions
from testlist.languages.jvm.checks_origins import Origins
from testlist.sandbox.syntax import text

BRANCHES: Final = frozenset({"if_statement", "if_expression"})
TRIES: Final = frozenset({"try_statement", "try_expression", "try_with_resources_statement"})
CATCHES: Final = frozenset({"catch_clause", "catch_block"})
BLOCK: Final = "block"


class JvmFailures(Failures):
    """Failures of one body.  origins: where the functions of its file come from."""

    nodes = BRANCHES | TRIES
    dropping = frozenset(
        {"Throwable", "Error", "AssertionError", "java.lang.Throwable", "java.lang.Error", "java.lang.AssertionError"}
    )

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self.origins = origins

    def branch(self, node: Node) -> Branch | None:
        """See Failures."""
        condition = node.child_by_field_name("condition") if node.type in BRANCHES else None
        if condition is None:
            return None
        word = next((child.start_byte for child in node.children if child.type == "else"), node.end_byte)
        inner = [one for one in parts(node) if one.start_byte >= condition.end_byte]
        then, other = [one for one in inner if one.start_byte < word], [one for one in inner if one.start_byte > word]
        return Branch(condition, _statements(then), _statements(other))

    def attempt(self, node: Node) -> Attempt | None:
        """See Failures."""
        if node.type not in TRIES:
            return None
        inner = parts(node)
        clauses = [Clause(_kinds(one), _statements(parts(one)[-1:])) for one in inner if one.type in CATCHES]
        return Attempt(_statements([one for one in inner if one.type == BLOCK][:1]), clauses)

    def fails(self, node: Node) -> bool:
        """See Failures."""
        call = call_of(node)
        if call is None or call.name != "fail":
            return False
        return any(one["relation"] == "fails" for one in asserted(call, self.origins))

    def conditions(self, node: Node, where: int, *, negated: bool) -> Iterable[CheckFact]:
        """See Failures."""
        return ({**one, "line": where} for one in conditions(node, node, negated=negated))


def _statements(nodes: Sequence[Node]) -> list[Node]:
    """Statements of blocks, and those that stand in none."""
    return [one for node in nodes for one in (parts(node) if node.type == BLOCK else [node])]


def _kinds(clause: Node) -> list[str]:
    """The types that a `catch` names."""
    for one in parts(clause):
        if one.type == "catch_formal_parameter":
            return [text(kind) for part in parts(one) if part.type == "catch_type" for kind in parts(part)]
        if one.type.endswith("_type"):
            return [text(one)]
    return []
