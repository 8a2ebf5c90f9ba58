"""The braces of a C++ file: which test and which suite a place is inside of, on every branch of its conditionals."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from testlist.languages.cpp.shape import Definition, PartFact
from testlist.languages.cpp.strip import ELSE, IF


class Suite(NamedTuple):
    """A suite.  owner: boost-test or doctest; status: that its decorators give."""

    name: str
    owner: str
    status: str | None


@dataclass(frozen=True, slots=True)
class Block:
    """One open brace.  test: the test it is inside of; outside: the block around that test.

    own: the test or part whose block this is; parts: names of the parts around, outermost first.
    """

    outer: "Block | None" = None
    test: Definition | None = None
    outside: "Block | None" = None
    own: Definition | PartFact | None = None
    parts: tuple[str, ...] = ()
    suite: Suite | None = None


@dataclass(slots=True)
class Blocks:
    """What is open at one place.  awaited: blocks that begin at a later brace, by its offset."""

    block: Block | None = None
    awaited: dict[int, Block] = field(default_factory=dict)
    saved: list[Block | None] = field(default_factory=list)
    branches: list[tuple[int, int]] = field(default_factory=list)  # (number of an `#if`, number of its branch)
    conditionals: int = 0
    conditions: list[bool] = field(default_factory=list)  # of each open `#if`, whether it leaves a choice

    @property
    def test(self) -> Definition | None:
        """The test around the current place."""
        return self.block.test if self.block else None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of that test around the current place."""
        return self.block.parts if self.block else ()

    @property
    def suite(self) -> Suite | None:
        """The innermost suite that is a block."""
        return self.block.suite if self.block else None

    def leave_test(self) -> None:
        """A definition cannot stand inside a test: where one seems to, a brace was hidden in a macro."""
        if self.block is not None and self.block.test is not None:
            self.block = self.block.outside

    def await_test(self, brace: int, test: Definition) -> None:
        """The block of a test begins at an offset."""
        self.awaited[brace] = Block(self.block, test=test, outside=self.block, own=test, suite=self.suite)

    def await_part(self, brace: int, part: PartFact) -> None:
        """The block of a part of the current test begins at an offset."""
        around = self.block or Block()
        self.awaited[brace] = replace(around, outer=self.block, own=part, parts=(*around.parts, part["name"]))

    def await_suite(self, brace: int, suite: Suite) -> None:
        """The block of a suite begins at an offset."""
        self.awaited[brace] = Block(self.block, suite=suite)

    def begin(self, at: int) -> None:
        """An opening brace."""
        awaited = self.awaited.pop(at, None)
        around = self.block or Block()
        self.block = awaited or Block(self.block, around.test, around.outside, None, around.parts, around.suite)

    def end(self) -> Definition | PartFact | None:
        """A closing brace; returns the test or part that it closes."""
        closed = self.block
        if closed is None:
            return None
        self.block = closed.outer
        return closed.own

    def branch(self, sign: int, *, plain: bool) -> None:
        """Begin every branch of a conditional with the blocks that were open before it."""
        if sign == IF:
            self.conditions.append(not plain)
            self.conditionals += 1
            self.saved.append(self.block)
            self.branches.append((self.conditionals, 0))
        elif self.saved and sign == ELSE:
            self.block = self.saved[-1]
            number, branch = self.branches[-1]
            self.branches[-1] = (number, branch + 1)
        elif self.saved:
            self.saved.pop()
            self.branches.pop()
            self.conditions.pop()
