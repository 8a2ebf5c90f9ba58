"""What has to hold as a test in C# fails else: `if (a != b) Assert.Fail();`, `try { A(); Assert.Fail(); } catch …`."""

from collections.abc import Iterable, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING
from testlist.kit.conditions import Conditions
from testlist.kit.failures import Attempt, Branch, Clause, Failures
from testlist.languages.csharp.checks_calls import owned
from testlist.languages.csharp.checks_links import CALL, arguments, check_of, links_of, literal, plain
from testlist.languages.csharp.vocabulary_checks import FAIL, OPERATORS, OWNERS, TRUTHS
from testlist.sandbox.syntax import named, text

BLOCK: Final = "block"
#: patterns that name a type
TYPES: Final = frozenset({"declaration_pattern", "type_pattern", "recursive_pattern"})
#: what says of a text that it is not there or has no letters
BLANK: Final = frozenset({"IsNullOrEmpty", "IsNullOrWhiteSpace"})


class CSharpFailures(Failures):
    """Failures of one body.  own: names of methods and types that the file declares."""

    nodes = frozenset({"if_statement", "try_statement"})

    def __init__(self, own: frozenset[str]) -> None:
        super().__init__()
        self.own = own

    def branch(self, node: Node) -> Branch | None:
        """See Failures."""
        condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if node.type != "if_statement" or condition is None:
            return None
        return Branch(condition, _statements(then), _statements(node.child_by_field_name("alternative")))

    def attempt(self, node: Node) -> Attempt | None:
        """See Failures."""
        if node.type != "try_statement":
            return None
        clauses = [
            Clause(_kinds(one), _statements(one.child_by_field_name("body")))
            for one in named(node)
            if one.type == "catch_clause"
        ]
        return Attempt(_statements(node.child_by_field_name("body")), clauses)

    def fails(self, node: Node) -> bool:
        """See Failures."""
        owner, link = owned(*links_of(node)) if node.type == CALL else ("", None)
        return link is not None and owner in OWNERS - self.own and link.word == FAIL

    def conditions(self, node: Node, where: int, *, negated: bool) -> Iterable[CheckFact]:
        """See Failures."""
        return CONDITIONS.of(node, where, negated=negated)


def _statements(node: Node | None) -> Sequence[Node]:
    """Statements of a block, or the only one that stands in none."""
    return list(named(node)) if node is None or node.type == BLOCK else [node]


def _kinds(clause: Node) -> list[str]:
    """The type that a `catch` names."""
    declared = (one for one in named(clause) if one.type == "catch_declaration")
    return [text(one.child_by_field_name("type")) for one in declared]


def _alone(node: Node, where: int, negated: bool) -> CheckFact | None:  # noqa: FBT001 - see Conditions
    """`a is null`, `a is B b`, `a.Contains(b)`, `string.IsNullOrEmpty(a)`."""
    if node.type == "is_expression":
        sides = [*named(node)]
        return check_of(where, "type", sides[0], sides[-1], negated=negated)
    if node.type == "is_pattern_expression":
        pattern = node.child_by_field_name("pattern")
        return _matched(node.child_by_field_name("expression"), pattern, where, negated=negated)
    begin, links = links_of(node) if node.type == CALL else (node, [])
    if not links or not links[-1].called or links[-1].node.id != node.id:
        return None
    link, given = links[-1], arguments(node)
    if link.word in BLANK and len(given) == 1:
        return check_of(where, "empty", given[0], negated=negated)
    if link.word not in TRUTHS or len(given) != 1 or plain(begin)[:1].isupper():
        return None
    return check_of(where, TRUTHS[link.word], link.holder, given[0], negated=negated)


def _matched(value: Node | None, pattern: Node | None, where: int, *, negated: bool) -> CheckFact | None:
    """`value is pattern`."""
    if pattern is not None and pattern.type == "negated_pattern":
        negated, pattern = not negated, next(named(pattern), None)
    if pattern is None:
        return None
    if pattern.type in TYPES:
        kind = pattern.child_by_field_name("type") or next(named(pattern), None)
        is_named = kind is not None and kind.type != "property_pattern_clause"
        return check_of(where, "type", value, kind, negated=negated) if is_named else None
    if pattern.type != "constant_pattern":
        return None
    if text(pattern) == "null":
        return check_of(where, "none", value, negated=negated)
    inner = next(named(pattern), pattern)
    if inner.type == "binary_expression":  # the grammar takes `null || b` of `a is null || b` for the pattern
        return None
    relation = "type" if literal(inner) is NOTHING else "equal"
    return check_of(where, relation, value, inner, negated=negated)


CONDITIONS: Final = Conditions(OPERATORS, literal, _alone)
