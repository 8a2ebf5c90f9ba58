"""Checks that `assert`, or a failure under a condition, makes of this condition, in Java and Kotlin."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import OPPOSITES, CheckFact
from testlist.kit.checking import NOTHING, at, made
from testlist.kit.conditions import EVEN
from testlist.languages.jvm.checks_calls import bare, call_of, literal, parts
from testlist.languages.jvm.vocabulary_checks import OPERATORS, TRUTHS
from testlist.sandbox.syntax import line

COMPARING: Final = frozenset({"binary_expression", "is_expression", "in_expression", "instanceof_expression"})
#: conditions in each other that are looked into
DEEPEST: Final = 20


def conditions(node: Node, place: Node, *, negated: bool = False, depth: int = 0) -> Iterator[CheckFact]:
    """What has to hold.  place: the statement."""
    node = bare(node)
    inner = parts(node)
    operator = _operator(node)
    if operator == "!" and inner and depth < DEEPEST:
        yield from conditions(inner[0], place, negated=not negated, depth=depth + 1)
    elif operator == ("||" if negated else "&&") and len(inner) == 2 and depth < DEEPEST:
        for one in inner:
            yield from conditions(one, place, negated=negated, depth=depth + 1)
    elif node.type in COMPARING and operator in OPERATORS and len(inner) == 2:
        yield _compared(inner[0], operator, inner[1], place, negated=negated)
    else:
        yield _true(node, place, negated=negated)


def _operator(node: Node) -> str:
    """The operator of an expression; empty for none."""
    return next((child.type for child in node.children if not child.is_named), "") if node.child_count else ""


def _compared(left: Node, operator: str, right: Node, place: Node, *, negated: bool) -> CheckFact:
    relation, turned = OPERATORS[operator]
    negated = negated != turned
    if negated and relation in OPPOSITES:
        relation, negated = OPPOSITES[relation], False
    is_left = relation in EVEN and literal(left) is not NOTHING and literal(right) is NOTHING
    if is_left or relation == "contains":
        left, right = right, left
    if relation in EVEN and literal(right) is None:
        return made(line(place), "none", left, negated=negated, literal=literal)
    return made(line(place), relation, left, right, negated=negated, literal=literal)


def _true(node: Node, place: Node, *, negated: bool) -> CheckFact:
    call = call_of(node)
    if call is not None and call.owner is not None and len(call.given) == 1 and call.name in TRUTHS:
        return made(line(place), TRUTHS[call.name], call.owner, at(call.given, 0), negated=negated, literal=literal)
    check = made(line(place), "truthy", node, negated=negated, literal=literal)
    if literal(node) is (not negated):
        check["idle"] = "constant"
    return check
