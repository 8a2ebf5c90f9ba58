"""Why a test passes whatever the code does: the order of its statements, and what is worked out from literals.

A language says what its statements are (`Passing`); a statement that it does not know may raise.  In parsing children
only.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from tree_sitter import Node

from testlist.kit.bodies import BodyFact, CheckFact, Passes
from testlist.kit.checking import NOTHING
from testlist.model import LARGEST
from testlist.sandbox.syntax import end_line, line, text

#: a value that is known to be there, and not which one it is
SOME: Final = object()
#: what a statement does: nothing, a check that holds, a check whose failure is caught, or the end of the test
Effect = Literal["nothing", "constant", "ignored", "leaves"]
#: operators of two numbers, two truths, and two texts
NUMBERS: Final[Mapping[str, Callable[[int, int], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "===": operator.eq, "!==": operator.ne,
}  # fmt: skip
TRUTHS: Final[Mapping[str, Callable[[bool, bool], Any]]] = {
    "==": operator.eq, "!=": operator.ne, "&&": operator.and_, "||": operator.or_, "===": operator.eq,
}  # fmt: skip
TEXTS: Final[Mapping[str, Callable[[str, str], Any]]] = {"==": operator.eq, "!=": operator.ne, "===": operator.eq}
TABLES: Final[Mapping[type, Mapping[str, Callable[[Any, Any], Any]]]] = {int: NUMBERS, bool: TRUTHS, str: TEXTS}
#: expressions that are looked into, one inside of the other
DEEPEST: Final = 40


class Passing:
    """The statements of one body.  A language derives its own and says what it writes.

    names: nodes that are names; written: nodes that are values if all that is named in them are.
    """

    names: ClassVar[frozenset[str]] = frozenset({"identifier"})
    written: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def literal(self, node: Node) -> Any:  # noqa: ARG002 - a language that says nothing is unknown
        """The value of a literal; NOTHING for anything else."""
        return NOTHING

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:  # noqa: ARG002 - as above
        """Names that a statement gives a value, with these; None if it is no such statement."""
        return None

    def leaves(self, node: Node) -> bool:  # noqa: ARG002 - as above
        """Whether a statement ends the test, and does nothing else."""
        return False

    def holds(self, node: Node) -> bool:  # noqa: ARG002 - a language may have none
        """Whether a statement is a check of literals that is known to hold, and does nothing else."""
        return False

    def swallows(self, node: Node) -> bool:  # noqa: ARG002 - a language may have none
        """Whether nothing that happens in a statement leaves it, and a failed check is forgotten."""
        return False

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:  # noqa: ARG002 - a language may have none
        """The condition of an `if` without `else`, and its statements; None if it is no such statement."""
        return None

    def verdict(self, statements: Sequence[Node], has_check: Callable[[Node], bool]) -> Passes | None:
        """Why a test passes; None if it may fail, or if nobody knows.  has_check: whether one stands in a node."""
        if not statements:
            return "empty"
        reasons: set[Effect] = set()
        for number, node in enumerate(statements):
            if (what := self.effect(node)) is None:
                return None
            if what == "leaves" and any(map(has_check, statements[number + 1 :])):
                return "unreachable"
            if what == "leaves":
                break
            reasons.add(what)
        return "ignored" if "ignored" in reasons else "constant" if "constant" in reasons else "no_check"

    def effect(self, node: Node) -> Effect | None:
        """What a statement does; None if it may fail, or if nobody knows."""
        if self.leaves(node):
            return "leaves"
        if self.holds(node):
            return "constant"
        if self.swallows(node):
            return "ignored"
        if (split := self.branch(node)) is not None:
            return self._branched(*split)
        pairs = self.given(node)
        return "nothing" if pairs is not None and all(self._learn(*pair) for pair in pairs) else None

    def _branched(self, condition: Node, inner: Sequence[Node]) -> Effect | None:
        value = self.value(condition)
        if value is False:
            return "constant"
        is_end = value is True and len(inner) == 1 and self.leaves(inner[0])
        return "leaves" if is_end else None

    def _learn(self, name: Node | None, value: Node | None) -> bool:
        """Keep what a name stands for.  False if that is not known, or may raise."""
        found = self.value(value) if value is not None else SOME
        if found is NOTHING or (name is not None and name.type not in self.names and text(name) != "_"):
            return False
        if name is not None:  # what nothing is given may be unpacked, which raises
            self.known[text(name)] = NOTHING if found is None else found
        return True

    def value(self, node: Node, depth: int = 0) -> Any:
        """The value of an expression that raises nothing; NOTHING for one of which nobody knows that."""
        if depth > DEEPEST:
            return NOTHING
        if (found := self.literal(node)) is not NOTHING:
            return found
        if node.type in self.names:
            return self.known.get(text(node), NOTHING)
        if node.type in self.written:
            inner = [child for child in node.named_children if "comment" not in child.type]
            is_written = all(self._is_part(child) or self.value(child, depth + 1) is not NOTHING for child in inner)
            return SOME if is_written else NOTHING
        return self._combined([child for child in node.children if "comment" not in child.type], depth + 1)

    def _combined(self, parts: Sequence[Node], depth: int) -> Any:
        """The value of an expression by its parts: `(a)`, `a + b`, `!a`, or another expression alone."""
        if len(parts) == 3 and parts[0].type == "(" and parts[2].type == ")":
            return self.value(parts[1], depth)
        if len(parts) == 3:
            return worked_out(self.value(parts[0], depth), text(parts[1]), self.value(parts[2], depth))
        if len(parts) == 2 and (sign := text(parts[0])) in ("!", "-"):
            return turned(sign, self.value(parts[1], depth))
        return self.value(parts[0], depth) if len(parts) == 1 else NOTHING

    def _is_part(self, node: Node) -> bool:
        """Whether a node is a piece of what is written, as of a text."""
        return not node.named_child_count and node.type in self.written


def worked_out(left: Any, sign: str, right: Any) -> Any:
    """The value of two values; NOTHING if it is not known, or too large."""
    known = TABLES.get(type(left), {}).get(sign) if type(left) is type(right) else None
    found = known(left, right) if known is not None else NOTHING
    return NOTHING if type(found) is int and abs(found) > LARGEST else found


def turned(sign: str, value: Any) -> Any:
    """`!value`, `-value`; NOTHING if it is not known."""
    if type(value) is bool:
        return not value if sign == "!" else NOTHING
    return -value if type(value) is int and sign == "-" else NOTHING


def proved(relation: str, sides: Sequence[Any], *, negated: bool = False) -> bool:
    """Whether values that are written out are known to relate so.  sides: one value, or the two of a comparison."""
    if not sides or any(one is NOTHING or one is SOME for one in sides):
        return False
    if relation == "truthy":
        return type(sides[0]) is bool and sides[0] is not negated
    if relation == "none":
        return (sides[0] is None) != negated
    if relation not in ("equal", "identical") or len(sides) < 2 or type(sides[0]) is not type(sides[1]):
        return False
    return bool(sides[0] == sides[1]) != negated


def standing(checks: Sequence[CheckFact], before: int = 0) -> Callable[[Node], bool]:
    """What says whether one of some checks stands in a node.  before: lines before what the node is part of."""
    lines = {check["line"] - before for check in checks}
    return lambda node: any(number in lines for number in range(line(node), end_line(node) + 1))


def settle(body: BodyFact, passes: Passes | None) -> None:
    """Note why a test passes, of each of its checks as well."""
    if passes is None:
        return
    body["passes"] = passes
    if passes in ("constant", "unreachable", "ignored"):
        for check in body["checks"]:
            check.setdefault("idle", passes)
