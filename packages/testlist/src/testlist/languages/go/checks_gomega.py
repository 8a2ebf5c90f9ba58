"""Checks as Gomega and GoConvey write them: a value, and a matcher or an assertion behind it."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import at, made
from testlist.languages.go.checks_conditions import arguments, literal, name_of
from testlist.languages.go.vocabulary_matchers import (
    COMPARED,
    GOMEGA,
    LINKS,
    MATCHERS,
    OFFSET,
    SHOULD,
    Matching,
)
from testlist.sandbox.syntax import line, text

#: calls between a value and its matcher, as `.WithTimeout(…)`, and matchers in `Not` that are followed
STEPS: Final = 8
NOT: Final = "Not"
#: what may stand before a value, and is none
CONTEXT: Final = re.compile(r"(?i)\w*ctx")


def matched(call: Node) -> CheckFact | None:
    """The check that a call of one of them is; None if it is none."""
    return _gomega(call) or _convey(call)


def _gomega(call: Node) -> CheckFact | None:
    """`Expect(a).To(Equal(b))`, `Eventually(a).WithTimeout(t).ShouldNot(BeNil())`."""
    function = call.child_by_field_name("function")
    link = text(function.child_by_field_name("field")) if function is not None else ""
    begun = next((one for one in _before(call) if _last(one) in GOMEGA), None) if link in LINKS else None
    if begun is None:
        return None
    given = arguments(begun)[1 if _last(begun).endswith(OFFSET) else 0 :]
    subject = at(given, 1 if len(given) > 1 and CONTEXT.fullmatch(text(given[0])) else 0)
    matcher, negated = at(arguments(call), 0), LINKS[link]
    for _ in range(STEPS):
        if matcher is None or matcher.type != "call_expression" or _last(matcher) != NOT:
            break
        matcher, negated = at(arguments(matcher), 0), not negated
    meaning, expected = _meaning(matcher)
    if meaning is None:
        return made(line(call), "custom", subject, matcher, negated=negated, literal=literal)
    return made(line(call), meaning.relation, subject, expected, negated=negated != meaning.negated, literal=literal)


def _meaning(matcher: Node | None) -> tuple[Matching | None, Node | None]:
    """What a matcher means, and what it is given."""
    if matcher is None or matcher.type != "call_expression":
        return None, None
    given = arguments(matcher)
    if _last(matcher) in COMPARED:
        sign = text(at(given, 0))[1:-1]
        return COMPARED[_last(matcher)].get(sign), at(given, 1)
    meaning = MATCHERS.get(_last(matcher))
    return meaning, at(given, meaning.expected) if meaning is not None else None


def _before(call: Node) -> Iterator[Node]:
    """Calls that a call is made on what they give, the nearest first."""
    for _ in range(STEPS):
        function = call.child_by_field_name("function")
        inner = function.child_by_field_name("operand") if function is not None else None
        if inner is None or inner.type != "call_expression":
            return
        yield (call := inner)


def _last(call: Node) -> str:
    return name_of(call).rpartition(".")[2]


def _convey(call: Node) -> CheckFact | None:
    """`So(a, ShouldEqual, b)`."""
    given = arguments(call) if _last(call) == "So" else []
    if len(given) < 2:
        return None
    meaning = SHOULD.get(text(given[1]).rpartition(".")[2])
    if meaning is None:
        return made(line(call), "custom", given[0], at(given, 2), literal=literal)
    return made(line(call), meaning.relation, given[0], at(given, 2), negated=meaning.negated, literal=literal)
