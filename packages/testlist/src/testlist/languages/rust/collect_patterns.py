"""Matching the tokens given to a macro_rules macro against its patterns.

Bindings are by name: tokens, or Repeated for what stands in a repetition.
"""

from dataclasses import dataclass, field
from typing import Final

from testlist.languages.rust.collect_fragments import fragment
from testlist.languages.rust.facts_tokens import name_of
from testlist.languages.rust.shape import Token, Tokens

SEPARATED: Final = frozenset({"*", "+", "?"})


@dataclass(slots=True)
class Repeated:
    """What one repetition bound, turn by turn."""

    turns: list["Bindings"] = field(default_factory=list)


Bindings = dict[str, Tokens | Repeated]


@dataclass(frozen=True, slots=True)
class Repetition:
    """`$( inner ) separator operator` of a pattern or a body; what follows begins at `end`."""

    inner: Tokens
    separator: str | None
    operator: str
    end: int


class Exhausted(Exception):  # noqa: N818 - an outcome, no fault
    """A macro took more steps than any honest one does."""


@dataclass(slots=True)
class Budget:
    """Steps that may still be taken for one file."""

    left: int

    def spend(self, steps: int = 1) -> None:
        """Take steps.  Raises: Exhausted."""
        self.left -= steps
        if self.left < 0:
            raise Exhausted


def repetition_at(tokens: Tokens, index: int) -> Repetition | None:
    """The repetition that begins at a `$`, if one does."""
    if tokens[index] != "$" or index + 2 >= len(tokens):
        return None
    group = tokens[index + 1]
    if not isinstance(group, list) or group[0] != "(":
        return None
    inner, after = group[1:], name_of(tokens[index + 2])
    last = name_of(tokens[index + 3]) if index + 3 < len(tokens) else ""
    if after in SEPARATED:
        return Repetition(inner, None, after, index + 3)
    return Repetition(inner, after, last, index + 4) if last in SEPARATED else None


def match(pattern: Tokens, given: Tokens, budget: Budget) -> Bindings | None:
    """Bind all of `given`; None if it does not fit."""
    bindings: Bindings = {}
    end = _match(pattern, given, 0, bindings, budget)
    return bindings if end == len(given) else None


def _match(pattern: Tokens, given: Tokens, at: int, bindings: Bindings, budget: Budget) -> int | None:
    """Match a pattern from a place on; return where it ended."""
    index, place = 0, at
    while index < len(pattern):
        budget.spend()
        piece = pattern[index]
        if (repetition := repetition_at(pattern, index)) is not None:
            place = _repeat(repetition, given, place, bindings, budget)
            index = repetition.end
            continue
        if piece == "$" and index + 3 < len(pattern) and pattern[index + 2] == ":":
            name, kind = pattern[index + 1], pattern[index + 3]
            if not isinstance(name, str) or not isinstance(kind, str):
                return None
            end = fragment(kind, given, place)
            budget.spend((len(given) if end is None else end) - place)
            if end is None:
                return None
            bindings[name] = given[place:end]
            index, place = index + 4, end
            continue
        if place >= len(given) or not _same(piece, given[place], bindings, budget):
            return None
        index, place = index + 1, place + 1
    return place


def _same(piece: Token, given: Token, bindings: Bindings, budget: Budget) -> bool:
    if isinstance(piece, list) and isinstance(given, list):
        if piece[0] != given[0]:
            return False
        budget.spend(len(given) + len(piece))
        return _match(piece[1:], given[1:], 0, bindings, budget) == len(given) - 1
    return not isinstance(piece, list) and name_of(piece) == name_of(given) and not isinstance(given, list)


def _repeat(repetition: Repetition, given: Tokens, at: int, bindings: Bindings, budget: Budget) -> int:
    """Match as many turns as there are; always succeeds, perhaps with none."""
    repeated, place = Repeated(), at
    budget.spend(len(repetition.inner))
    while True:
        start = place
        if repeated.turns and repetition.separator is not None:
            if start >= len(given) or name_of(given[start]) != repetition.separator:
                break
            start += 1
        turn: Bindings = {}
        end = _match(repetition.inner, given, start, turn, budget) if start < len(given) else None
        if end is None or end == start:
            break
        repeated.turns.append(turn)
        place = end
        if repetition.operator == "?":
            break
    for name in variables(repetition.inner):
        bindings[name] = repeated
    return place


def variables(tokens: Tokens) -> set[str]:
    """Names after a `$`, at any depth."""
    found: set[str] = set()
    for index, piece in enumerate(tokens):
        if isinstance(piece, list):
            found |= variables(piece[1:])
        elif piece == "$" and index + 1 < len(tokens) and isinstance(name := tokens[index + 1], str):
            found.add(name)
    return found
