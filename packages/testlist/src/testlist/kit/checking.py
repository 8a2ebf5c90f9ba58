"""What the readers of bodies have in common: one check, and the walk through one body.  In parsing children only."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from tree_sitter import Node

from testlist.kit.bodies import MOST_CALLS, MOST_CHECKS, SHOWN, BodyFact, CheckFact, Idle
from testlist.model import LARGEST
from testlist.sandbox.syntax import end_line, line

#: what has no value that JSON has, or is not written out
NOTHING: Final = object()


class Written(Protocol):
    """What one side of a check is written as: a node, or a part of the source that is none."""

    @property
    def text(self) -> bytes | None:
        """Its source."""


#: digits of a number that are read: more are no value that is kept, and `int` refuses thousands of them
MOST_DIGITS: Final = 20
Side = TypeVar("Side", bound=Written)
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the source that is no node.  only: the node that it consists of, if it is one after all."""

    text: bytes
    only: Node | None = None


def said(written: Written | None) -> str:
    """Source of an expression on one line, cut."""
    raw = written.text if written is not None else None
    return " ".join(raw.decode("utf-8", "replace").split())[:SHOWN] if raw else ""


def at(given: Sequence[Item], place: int | None) -> Item | None:
    """An argument by its place; None if there is none."""
    return given[place] if place is not None and place < len(given) else None


def whole(digits: str) -> Any:
    """The value of a number in decimal digits, perhaps behind a sign; NOTHING for others, and for more than is kept."""
    is_whole = len(digits) <= MOST_DIGITS and digits.isascii() and digits.removeprefix("-").isdigit()
    return int(digits) if is_whole and abs(int(digits)) <= LARGEST else NOTHING


def is_one(first: Any, second: Any) -> bool:
    """Whether two values of literals are known and the same, of one type: `1` is not `True`."""
    return first is not NOTHING and type(first) is type(second) and bool(first == second)


def is_certain(left: Any, right: Any, *, negated: bool) -> bool:
    """Whether it is known that two values of literals are equal or, negated, that they are not."""
    return left is not NOTHING and right is not NOTHING and bool(left == right) != negated


def holds(check: CheckFact, value: Any) -> bool:
    """Whether a check is known to hold, as its sides are literals.  value: of its subject."""
    relation, negated = check["relation"], check.get("negated", False)
    if value is NOTHING:
        return False
    if relation == "equal":
        return not negated and is_one(value, check.get("value", NOTHING))
    if relation == "truthy":
        return isinstance(value, bool) and value is not negated
    return relation == "none" and (value is None) != negated


def made(
    where: int,
    relation: str,
    subject: Side | None = None,
    expected: Side | None = None,
    *,
    negated: bool = False,
    literal: Callable[[Side], Any],
) -> CheckFact:
    """One check.  where: its line; literal: the value of a literal, NOTHING for anything else."""
    check: CheckFact = {"line": where, "relation": relation}
    if negated:
        check["negated"] = True
    if subject is not None:
        check["subject"] = said(subject)
    if expected is not None:
        check["expected"] = said(expected)
        if (value := literal(expected) if len(expected.text or b"") <= SHOWN else NOTHING) is not NOTHING:
            check["value"] = value
    return check


@dataclass(slots=True)
class Reading:
    """What was met in one body.

    calls: in order, each once; idle: why what is read now decides nothing; nested: in a function inside of it.
    """

    checks: list[CheckFact] = field(default_factory=list)
    calls: dict[str, None] = field(default_factory=dict)
    idle: Idle | None = None
    nested: bool = False

    def add(self, check: CheckFact) -> None:
        """Note a check, with where it stands."""
        if self.idle and "idle" not in check:
            check["idle"] = self.idle
        if self.nested:
            check["nested"] = True
        self.checks.append(check)

    def in_order(self, statements: Iterable[Node], each: Callable[[Node], None], ends: Callable[[Node], bool]) -> None:
        """Read the statements of a block; after one that ends it, nothing is reached."""
        before = self.idle
        for node in statements:
            each(node)
            if ends(node):
                self.idle = self.idle or "unreachable"
        self.idle = before

    def body(self, name: str, head: Node, whole: Node) -> BodyFact:
        """The function.  head: where it begins for a listing; whole: with its end."""
        return {
            "name": name,
            "line": line(head),
            "end": end_line(whole),
            "checks": self.checks[:MOST_CHECKS],
            "calls": list(self.calls)[:MOST_CALLS],
        }
