"""What a condition of JavaScript says has to hold, of `assert(a === b)` or as a test fails else."""

from collections.abc import Iterable, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import made
from testlist.kit.conditions import Conditions, bare
from testlist.kit.failures import Attempt, Branch, Clause, Failures
from testlist.languages.javascript.checks_chains import checked, literal_of, name_of
from testlist.languages.javascript.vocabulary_checks import OPERATORS, TRUTHS
from testlist.sandbox.syntax import line, named, text

BLOCK: Final = "statement_block"
#: what checks a condition, of Node and Chai
ASSERT: Final = "assert"


class JavascriptFailures(Failures):
    """Failures of one body.  own: functions of the repository."""

    nodes = frozenset({"if_statement", "try_statement"})

    def __init__(self, own: frozenset[str]) -> None:
        super().__init__()
        self.own = own

    def branch(self, node: Node) -> Branch | None:
        """See Failures."""
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if condition is None:
            return None
        other = node.child_by_field_name("alternative")
        then = _statements(node.child_by_field_name("consequence"))
        return Branch(condition, then, [one for child in named(other) for one in _statements(child)])

    def attempt(self, node: Node) -> Attempt | None:
        """See Failures."""
        if node.type != "try_statement":
            return None
        handler = node.child_by_field_name("handler")
        clauses = [Clause([], _statements(handler.child_by_field_name("body")))] if handler is not None else []
        return Attempt(_statements(node.child_by_field_name("body")), clauses)

    def fails(self, node: Node) -> bool:
        """See Failures."""
        check = checked(node, self.own) if node.type == "call_expression" else None
        return check is not None and check["relation"] == "fails"

    def conditions(self, node: Node, where: int, *, negated: bool) -> Iterable[CheckFact]:
        """See Failures."""
        return CONDITIONS.of(node, where, negated=negated)


def stated(call: Node, own: frozenset[str]) -> list[CheckFact]:
    """The checks of `assert(a === b)`; none of any other call, and of a condition that only has to be true."""
    if call.type != "call_expression" or name_of(call) != ASSERT or ASSERT in own:
        return []
    condition = next(named(call.child_by_field_name("arguments")), None)
    found = list(CONDITIONS.of(condition, line(call))) if condition is not None else []
    is_plain = len(found) == 1 and found[0]["relation"] == "truthy" and "negated" not in found[0]
    return [] if is_plain else found


def _statements(node: Node | None) -> Sequence[Node]:
    """Statements of a block, or the only one that stands in none."""
    return list(named(node)) if node is None or node.type == BLOCK else [node]


def _alone(node: Node, where: int, negated: bool) -> CheckFact | None:  # noqa: FBT001 - see Conditions
    """`a.includes(b)`."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    relation = TRUTHS.get(text(function.child_by_field_name("property"))) if function is not None else None
    given = list(named(node.child_by_field_name("arguments")))
    owner = function.child_by_field_name("object") if function is not None else None
    if relation is None or owner is None or len(given) != 1:
        return None
    sides = (given[0], owner) if relation == "matches" else (bare(owner), given[0])  # `/a/.test(b)`
    return made(where, relation, *sides, negated=negated, literal=literal_of)


CONDITIONS: Final = Conditions(OPERATORS, literal_of, _alone, frozenset({"null", "undefined"}))
