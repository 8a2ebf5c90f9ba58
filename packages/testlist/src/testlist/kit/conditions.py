"""What a condition says has to hold, in the words of a language: `a == b && !c`.  In parsing children only."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import OPPOSITES, CheckFact
from testlist.kit.checking import NOTHING, is_certain, made
from testlist.sandbox.syntax import named, text

#: what joins two conditions of which both have to hold, and of which one has to
BOTH: Final = frozenset({"&&", "and"})
EITHER: Final = frozenset({"||", "or"})
NOT: Final = frozenset({"!", "not"})
WRAPPING: Final = frozenset({"parenthesized_expression", "parenthesized_statements"})
#: relations of which either side may be the one that is expected
EVEN: Final = frozenset({"equal", "identical"})


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a language writes conditions.

    operators: of two sides -> relation, and whether it must not hold; literal: the value of a literal; alone: the check
    of a condition without operators, None for one that only has to be true; nothing: words for what is not there.
    """

    operators: Mapping[str, tuple[str, bool]]
    literal: Callable[[Node], Any]
    alone: Callable[[Node, int, bool], CheckFact | None]
    nothing: frozenset[str] = frozenset({"null"})

    def of(self, node: Node, where: int, *, negated: bool = False) -> Iterator[CheckFact]:
        """What has to hold, or must not.  It may have thousands of parts: no recursion.  where: the line."""
        rest = [(node, negated)]
        while rest:
            node, negated = rest.pop()
            node = bare(node)
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            sign = text(node.child_by_field_name("operator")) if left is not None and right is not None else ""
            if node.child_count == 2 and node.children[0].type in NOT:
                rest.append((node.children[1], not negated))
            elif left is not None and right is not None and sign in (EITHER if negated else BOTH):
                rest += [(right, negated), (left, negated)]
            elif left is not None and right is not None and sign in self.operators:
                yield self._compared(left, self.operators[sign], right, where, negated=negated)
            else:
                yield self.alone(node, where, negated) or self._true(node, where, negated=negated)

    def _compared(self, left: Node, operator: tuple[str, bool], right: Node, where: int, *, negated: bool) -> CheckFact:
        """One comparison; what is written out is what is expected, on whichever side it stands."""
        relation, turned = operator
        negated = negated != turned
        if negated and relation in OPPOSITES:
            relation, negated = OPPOSITES[relation], False
        is_left = relation in EVEN and self.literal(left) is not NOTHING and self.literal(right) is NOTHING
        if is_left or relation in ("contains", "has"):  # `a in b`
            left, right = right, left
        if relation in EVEN and text(right) in self.nothing:
            return made(where, "none", left, negated=negated, literal=self.literal)
        check = made(where, relation, left, right, negated=negated, literal=self.literal)
        if relation in EVEN and is_certain(self.literal(left), self.literal(right), negated=negated):
            check["idle"] = "constant"
        return check

    def _true(self, node: Node, where: int, *, negated: bool) -> CheckFact:
        check = made(where, "truthy", node, negated=negated, literal=self.literal)
        if self.literal(node) is (not negated):
            check["idle"] = "constant"
        return check


def bare(node: Node) -> Node:
    """An expression without the parentheses around it."""
    while node.type in WRAPPING:
        inner = list(named(node))
        if len(inner) != 1:
            break
        node = inner[0]
    return node
