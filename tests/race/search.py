"""All orders in which the statements of several strands can run: depth first, each from a fresh beginning.

Whole: every order is run that differs from the others in more than the places of neighbours that touch nothing in common
(sleep sets).  Bounded: every order, with at most so many switches away from a strand that could have gone on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.race.footprints import ENDS, Catalogue, Footprint, independent
from tests.race.stepping import Choose, Strand

#: Orders after which a line says how far it is.
SELDOM = 500
_VALUE = re.compile(r"'[^']*'")


@dataclass
class Choice:
    """One point of an order.  tried: strands whose every continuation has been run; asleep: whose need not be."""

    standing: Mapping[str, Footprint]
    statements: Mapping[str, str]
    asleep: frozenset[str]
    last: str | None
    switches: int
    chosen: str = ""
    tried: set[str] = field(default_factory=set)

    def cost(self, name: str) -> int:
        return int(self.last in self.standing and name != self.last)


@dataclass
class Search:
    """Walks the tree.  switches: the bound, None: whole.  redundant: runs that were found to be equal to another."""

    catalogue: Catalogue
    switches: int | None
    path: list[Choice] = field(default_factory=list)
    orders: int = 0
    redundant: int = 0
    _depth: int = 0
    _cut: bool = False
    _held: dict[str, frozenset[str]] = field(default_factory=dict)
    _sent: dict[str, tuple[str, Footprint]] = field(default_factory=dict)

    def run(self, play: Callable[[Choose], None], *, progress: Callable[[str], None] = print) -> None:
        """Play every order.  An error of a play is told with the order that led to it.

        progress: gets a line now and then.
        """
        while True:
            self._depth, self._cut, self._held, self._sent = 0, False, {}, {}
            try:
                play(self.choose)
            except Exception as error:
                error.add_note(f"after {self.orders} other orders, in this one:\n{self.story()}")
                raise
            self.orders, self.redundant = self.orders + (not self._cut), self.redundant + self._cut
            if not self._next():
                return
            if (self.orders + self.redundant) % SELDOM == 0:
                progress(
                    f"{self.orders} orders, {self.redundant} more equal to one of them; about {self.share:.1%} done"
                )

    @property
    def share(self) -> float:
        """The part of the tree that is behind it, if all branches of a choice were of one size."""
        done, weight = 0.0, 1.0
        for choice in self.path:
            names = choice.standing.keys() - choice.asleep
            weight /= max(1, len(names))
            done += weight * len(choice.tried & names)
        return done

    def story(self) -> str:
        """The order that was run last, a line per statement."""
        return "\n".join(
            f"  {c.chosen}: {' '.join(c.statements[c.chosen].split())[:110]}" for c in self.path if c.chosen
        )

    def choose(self, standing: Mapping[str, Strand]) -> str | None:
        """Whom to release; the same as the last time as far as the path is given."""
        for strand in standing.values():
            self._note(strand)
        if self._depth == len(self.path):
            self.path.append(self._arrive(standing))
        choice = self.path[self._depth]
        met = {name: str(strand.next) for name, strand in standing.items()}
        assert _bare(choice.statements) == _bare(met), f"the same order met other statements:\n{self.story()}"
        if not choice.chosen:
            self._cut = True
            return None
        self._depth += 1
        name = choice.chosen
        self._sent[name] = choice.statements[name], choice.standing[name]
        return name

    def _note(self, strand: Strand) -> None:
        """What its transaction holds, now that its last statement is done."""
        statement, footprint = self._sent.pop(strand.name, ("", Footprint()))
        if statement in ENDS:
            self._held[strand.name] = frozenset()
        elif strand.rows or not statement.startswith(("UPDATE", "DELETE")):  # one that found no row locked none
            self._held[strand.name] = self._held.get(strand.name, frozenset()) | footprint.leaves

    def _arrive(self, standing: Mapping[str, Strand]) -> Choice:
        before = self.path[-1] if self.path else None
        footprints = {
            name: self.catalogue.footprint(s.last, s.given, self._held.get(name, frozenset()))
            for name, s in standing.items()
        }
        asleep = frozenset[str]()
        if before is not None and self.switches is None:
            gone = before.standing[before.chosen]
            rest = before.asleep | before.tried
            asleep = frozenset(name for name in rest & standing.keys() if independent(before.standing[name], gone))
        choice = Choice(
            footprints,
            {name: str(s.next) for name, s in standing.items()},
            asleep,
            before.chosen if before else None,
            before.switches + before.cost(before.chosen) if before else 0,
        )
        choice.chosen = next(iter(self._open(choice)), "")
        return choice

    def _open(self, choice: Choice) -> Sequence[str]:
        """Whom to try yet; whoever ran before first."""
        names = [
            name
            for name in sorted(choice.standing, key=lambda name: (name != choice.last, name))
            if name not in choice.tried and name not in choice.asleep
        ]
        if self.switches is None:
            return names
        return [name for name in names if choice.switches + choice.cost(name) <= self.switches]

    def _next(self) -> bool:
        """Turn to the next order; False when there is none."""
        while self.path:
            choice = self.path[-1]
            choice.tried.add(choice.chosen)
            if left := self._open(choice):
                choice.chosen = left[0]
                return True
            self.path.pop()
        return False


def _bare(statements: Mapping[str, str]) -> dict[str, str]:
    """The statements without the values that some are written with: ids are others in each order."""
    return {name: _VALUE.sub("?", statement) for name, statement in statements.items()}
