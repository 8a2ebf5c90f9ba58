"""What has to hold as a test fails else: `if (a) fail()`, `try { a(); fail() } catch (E e) { }`.  In children only.

A language says how it writes these (`Failures`).  A failure that something else decides on, as the entry of a `switch`,
is left as it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final, NamedTuple

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING, Part, made
from testlist.sandbox.syntax import line, named

#: what a call stands in that is all of a statement
STATEMENTS: Final = frozenset(
    {"expression_statement", "return_statement", "throw_statement", "return_expression", "throw_expression",
     "await_expression"}
)  # fmt: skip
#: a statement that passes an error on
THROWS: Final = re.compile(rb"(?:throw|raise)\b")

#: bytes of code of which the beginning is shown
LONGEST: Final = 4_000
#: branches in each other that are looked into for a failure
NESTED: Final = 3


class Branch(NamedTuple):
    """An `if`.  then, other: its statements, and those of its `else`; negated: it is an `unless`."""

    condition: Node
    then: Sequence[Node]
    other: Sequence[Node] = ()
    negated: bool = False


class Clause(NamedTuple):
    """A `catch`.  kinds: types of errors as they are written; none if it takes all."""

    kinds: Sequence[str]
    statements: Sequence[Node]


class Attempt(NamedTuple):
    """A `try`.  otherwise: statements that run if nothing was raised."""

    tried: Sequence[Node]
    clauses: Sequence[Clause]
    otherwise: Sequence[Node] = ()


class Failures:
    """The failures of one body.

    nodes: what may be a branch or a `try`; covered: ids of calls that fail the test, of which a check says when, and of
    branches beside them, which only say why; dropping: types of which a failed check is one, so that a `catch` without
    statements forgets it.
    """

    nodes: ClassVar[frozenset[str]] = frozenset()
    dropping: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self.covered: set[int] = set()

    def branch(self, node: Node) -> Branch | None:  # noqa: ARG002 - a language says what it writes
        """The parts of an `if`; None for anything else."""
        return None

    def attempt(self, node: Node) -> Attempt | None:  # noqa: ARG002 - as above
        """The parts of a `try`; None for anything else."""
        return None

    def fails(self, node: Node) -> bool:  # noqa: ARG002 - as above
        """Whether an expression is a call that fails the test whatever it is given."""
        return False

    def conditions(self, node: Node, where: int, *, negated: bool) -> Iterable[CheckFact]:  # noqa: ARG002 - as above
        """What a condition says has to hold, or must not."""
        return ()

    def checks(self, node: Node, before: int = 0) -> Iterable[CheckFact]:
        """What has to hold as a statement fails the test else.  before: lines before what it is part of."""
        may = node.type in self.nodes and node.id not in self.covered
        return self._decided(node, line(node) + before) if may else ()

    def _decided(self, node: Node, where: int) -> Iterator[CheckFact]:
        if (split := self.branch(node)) is not None:
            then, other = self._failing(split.then), self._failing(split.other)
            if bool(then) != bool(other):  # if both fail, what is around decides
                self._cover(split.then if then else split.other)
                yield from self.conditions(split.condition, where, negated=bool(then) != split.negated)
        elif (attempt := self.attempt(node)) is not None:
            yield from self._raised(attempt, where)

    def _raised(self, attempt: Attempt, where: int) -> Iterator[CheckFact]:
        failing = [one for one in attempt.clauses if self._failing(one.statements)]
        alive = [one for one in attempt.clauses if one not in failing and not any(map(_throws, one.statements))]
        ends = self._failing([*attempt.tried, *attempt.otherwise])
        if alive and ends and (before := [one for one in attempt.tried if one.start_byte < ends[0].start_byte]):
            check = raised(where, _code(before[-1:]), [one.kinds for one in alive], negated=False)
            if any(self.dropping.intersection(one.kinds) and not one.statements for one in alive):
                check["idle"] = "ignored"
            yield check
            self._cover(ends)
        elif failing and attempt.tried:
            yield raised(where, _code(attempt.tried), [one.kinds for one in failing], negated=True)
        else:
            return
        for one in failing:
            self._cover(self._failing(one.statements))

    def _failing(self, statements: Sequence[Node]) -> list[Node]:
        """The statements that fail the test whatever is so."""
        return [one for one in statements if self._is_failing(one, NESTED)]

    def _is_failing(self, statement: Node, depth: int) -> bool:
        """Whether a statement fails the test, perhaps with one of two messages.  depth: of branches to look into."""
        if self.fails(called(statement)):
            return True
        split = self.branch(statement) if depth else None
        sides = (split.then, split.other) if split is not None else ()
        return bool(sides) and all(any(self._is_failing(one, depth - 1) for one in side) for side in sides)

    def _cover(self, statements: Sequence[Node], depth: int = NESTED) -> None:
        """Note which calls fail the test there."""
        for one in statements:
            if self.fails(called(one)):
                self.covered.add(called(one).id)
            elif depth and (split := self.branch(one)) is not None:
                self.covered.add(one.id)
                self._cover([*split.then, *split.other], depth - 1)


def called(statement: Node) -> Node:
    """The expression that a statement is."""
    while statement.type in STATEMENTS and (inner := next(named(statement), None)) is not None:
        statement = inner
    return statement


def _throws(statement: Node) -> bool:
    return THROWS.match(statement.text or b"") is not None


def _code(statements: Sequence[Node]) -> bytes:
    return b" ".join((one.text or b"")[:LONGEST].strip() for one in statements[:LONGEST])[:LONGEST].rstrip(b"; ")


def raised(where: int, tried: bytes, kinds: Sequence[Sequence[str]], *, negated: bool) -> CheckFact:
    """Whether some code raises what some clauses take.  kinds: of each clause; none if it takes all."""
    wanted = Part(" | ".join(kind for one in kinds for kind in one).encode()) if all(kinds) else None
    return made(where, "raises", Part(tried), wanted, negated=negated, literal=lambda _: NOTHING)
