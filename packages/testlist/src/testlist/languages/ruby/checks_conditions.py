"""What a condition of Ruby says has to hold, of `assert a == b` or as a test fails else: `flunk unless a`."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING, at, made, whole
from testlist.kit.conditions import Conditions
from testlist.kit.failures import Attempt, Branch, Clause, Failures
from testlist.languages.ruby.vocabulary_checks import COMPARISONS, FAIL, STATES, TRUTHS
from testlist.sandbox.syntax import named, text

#: what an `if` is called -> whether it is an `unless`
BRANCHES: Final = {
    "if": False, "elsif": False, "if_modifier": False, "unless": True, "unless_modifier": True,
}  # fmt: skip
#: what may hold a `rescue`
HOLDERS: Final = frozenset({"begin", "body_statement"})
RESCUE, ELSE, ENSURE = "rescue", "else", "ensure"
#: nodes around statements
BLOCKS: Final = frozenset({"then", "else", "parenthesized_statements"})


class RubyFailures(Failures):
    """Failures of one body."""

    nodes = frozenset(BRANCHES) | HOLDERS
    dropping = frozenset({"Exception", "::Exception", "Minitest::Assertion"})

    def branch(self, node: Node) -> Branch | None:
        """See Failures."""
        condition = node.child_by_field_name("condition") if node.type in BRANCHES else None
        if condition is None:
            return None
        then = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        other = node.child_by_field_name("alternative")
        otherwise = _statements(other) if other is not None and other.type == ELSE else []
        return Branch(condition, _statements(then), otherwise, BRANCHES[node.type])

    def attempt(self, node: Node) -> Attempt | None:
        """See Failures."""
        parts = list(named(node)) if node.type in HOLDERS else []
        clauses = [
            Clause(
                [text(kind) for kind in named(one.child_by_field_name("exceptions"))],
                _statements(one.child_by_field_name("body")),
            )
            for one in parts
            if one.type == RESCUE
        ]
        if not clauses:
            return None
        tried = [one for one in parts if one.type not in (RESCUE, ELSE, ENSURE)]
        return Attempt(tried, clauses, [one for part in parts if part.type == ELSE for one in named(part)])

    def fails(self, node: Node) -> bool:
        """See Failures."""
        if node.type == "call":
            return node.child_by_field_name("receiver") is None and text(node.child_by_field_name("method")) == FAIL
        return node.type == "identifier" and text(node) == FAIL

    def conditions(self, node: Node, where: int, *, negated: bool) -> Iterable[CheckFact]:
        """See Failures."""
        return CONDITIONS.of(node, where, negated=negated)


def _statements(node: Node | None) -> Sequence[Node]:
    """Statements of a block, or the only one that stands in none."""
    return list(named(node)) if node is None or node.type in BLOCKS else [node]


def _alone(node: Node, where: int, negated: bool) -> CheckFact | None:  # noqa: FBT001 - see Conditions
    """`a.nil?`, `a.include?(b)`."""
    owner = node.child_by_field_name("receiver") if node.type == "call" else None
    if owner is None or node.child_by_field_name("block") is not None:
        return None
    method, given = text(node.child_by_field_name("method")), list(named(node.child_by_field_name("arguments")))
    relation = STATES.get(method) if not given else TRUTHS.get(method) if len(given) == 1 else None
    if relation is None or any(one.type == "block_argument" for one in given):
        return None
    return made(where, relation, owner, at(given, 0), negated=negated, literal=literal)


def literal(node: Node) -> Any:
    """The value of a literal; NOTHING for anything else."""
    raw = text(node)
    if node.type == "string" and all(child.type == "string_content" for child in node.named_children):
        return raw[1:-1]
    if node.type == "integer":
        return whole(raw)
    return {"true": True, "false": False, "nil": None}.get(node.type, NOTHING)


CONDITIONS: Final = Conditions(COMPARISONS, literal, _alone, frozenset({"nil"}))
