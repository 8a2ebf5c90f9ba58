"""What a condition of PHP says has to hold, of `assert($a !== null)`, or as a test fails else: `if ($a) fail`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import made
from testlist.kit.conditions import Conditions
from testlist.kit.failures import Attempt, Branch, Clause, Failures
from testlist.languages.php.checks_calls import CHAINED, arguments, is_own, links_of, literal, plain
from testlist.languages.php.vocabulary_checks import FAIL, OPERATORS, TRUTHS
from testlist.sandbox.syntax import named, text

FUNCTION: Final = "function_call_expression"
STATIC: Final = "scoped_call_expression"
BLOCKS: Final = frozenset({"compound_statement", "colon_block"})
BRANCHES: Final = frozenset({"if_statement", "else_if_clause"})
ELSE: Final = "else_clause"
BRANCHING: Final = frozenset({"else_if_clause", ELSE})


class PhpFailures(Failures):
    """Failures of one body.  own: names of checks that the file declares itself."""

    nodes = BRANCHES | {"try_statement"}
    dropping = frozenset({"Throwable", "\\Throwable", "Exception", "\\Exception"})

    def __init__(self, own: frozenset[str]) -> None:
        super().__init__()
        self.own = own

    def branch(self, node: Node) -> Branch | None:
        """See Failures; what follows the last condition is its `else`."""
        condition = node.child_by_field_name("condition") if node.type in BRANCHES else None
        if condition is None:
            return None
        parts = list(named(node))
        after = parts[-1] if node.type == "if_statement" and sum(one.type in BRANCHING for one in parts) == 1 else None
        if node.type == "else_if_clause":
            after = node.next_named_sibling
        other = after.child_by_field_name("body") if after is not None and after.type == ELSE else None
        return Branch(condition, _statements(node.child_by_field_name("body")), _statements(other))

    def attempt(self, node: Node) -> Attempt | None:
        """See Failures."""
        if node.type != "try_statement":
            return None
        clauses = [
            Clause(
                [text(kind) for kind in named(one.child_by_field_name("type"))],
                _statements(one.child_by_field_name("body")),
            )
            for one in named(node)
            if one.type == "catch_clause"
        ]
        return Attempt(_statements(node.child_by_field_name("body")), clauses)

    def fails(self, node: Node) -> bool:
        """See Failures."""
        if FAIL in self.own:
            return False
        if node.type == STATIC:
            return plain(node) == FAIL and is_own(node.child_by_field_name("scope"))
        begin, links = links_of(node) if node.type in CHAINED else (node, [])
        return len(links) == 1 and links[0].called and links[0].name == FAIL and is_own(begin)

    def conditions(self, node: Node, where: int, *, negated: bool) -> Iterable[CheckFact]:
        """See Failures."""
        return conditions(node, where, negated=negated)


def conditions(node: Node, where: int, *, negated: bool = False) -> Iterator[CheckFact]:
    """What has to hold, or must not."""
    return CONDITIONS.of(node, where, negated=negated)


def _statements(node: Node | None) -> Sequence[Node]:
    """Statements of a block, or the only one that stands in none."""
    return list(named(node)) if node is None or node.type in BLOCKS else [node]


def _alone(node: Node, where: int, negated: bool) -> CheckFact | None:  # noqa: FBT001 - see Conditions
    """`is_null($a)`, `in_array($b, $a)`."""
    meaning = TRUTHS.get(plain(node).lower()) if node.type == FUNCTION else None
    given = arguments(node) if meaning is not None else []
    if meaning is None or len(given) <= max(meaning.subject or 0, meaning.expected or 0):
        return None
    expected = given[meaning.expected] if meaning.expected is not None else None
    subject = given[meaning.subject or 0]
    return made(where, meaning.relation, subject, expected, negated=negated, literal=literal)


CONDITIONS: Final = Conditions(OPERATORS, literal, _alone, frozenset({"null", "NULL", "Null"}))
