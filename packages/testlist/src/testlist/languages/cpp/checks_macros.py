"""The checks that a macro of a C++ test library stands for."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import Part, at, made, said
from testlist.languages.cpp.checks_conditions import compared, conditions, is_written
from testlist.languages.cpp.checks_source import CALL, Source, literal
from testlist.languages.cpp.facts_arguments import Span
from testlist.languages.cpp.vocabulary_checks import (
    CALLED,
    CONDITIONS,
    MACROS,
    MATCHED,
    MATCHERS,
    SHAPES,
    WHOLE,
    Meaning,
)

NOT: Final = re.compile(rb"\s*+(?:(?:[\w:]+::)?Not\s*+(?=\()|!)")
TIMES: Final = re.compile(rb"[^;{}]{0,2000}?\.\s*+Times\s*+\(\s*+0\s*+\)")
#: what a macro of the repository checks
OWN: Final = Meaning("custom")
#: relations that compare both sides
PAIRS: Final = frozenset({"equal", "less", "less_equal", "greater", "greater_equal"})


def checks_of(source: Source, name: str, given: Sequence[Span], where: int, end: int) -> Iterator[CheckFact]:
    """The checks of a macro.  end: offset behind it."""
    if not given:
        return
    if name in CONDITIONS:
        last = given[0] if name not in WHOLE or "MESSAGE" in name else given[-1]
        found = list(conditions(source, (given[0][0], last[1]), where, negated=CONDITIONS[name]))
        if name.startswith("BOOST_TEST") and len(given) > 1 and b"tolerance" in source.code(given[1]):
            for check in found:
                check["relation"] = "approximate" if check["relation"] == "equal" else check["relation"]
                check["tolerance"] = said(source.part(given[1]))
        yield from found
    elif name in MATCHED and len(given) > 1:
        yield matcher(source, given[0], (given[1][0], given[-1][1]), where)
    elif name == CALLED and len(given) > 1:
        never = TIMES.match(source.masked.code, end) is not None
        sides = source.part(given[0]), source.part((given[1][0], given[-1][1]))
        yield made(where, "called", *sides, negated=never, literal=literal)
    elif name not in MATCHED and name != CALLED:
        yield _meant(source, MACROS.get(name, OWN), given, where)


def _meant(source: Source, meaning: Meaning, given: Sequence[Span], where: int) -> CheckFact:
    def place(number: int | None) -> Part | None:
        return None if (span := at(given, number)) is None else source.part(span)

    if meaning.relation in PAIRS and meaning.expected == 1 and len(given) > 1:
        return compared(source, given[0], (meaning.relation, meaning.negated), given[1], where)
    subject, expected = place(meaning.subject), place(meaning.expected)
    if meaning.relation == "approximate" and subject is not None and expected is not None and is_written(subject):
        subject, expected = (subject, expected) if is_written(expected) else (expected, subject)
    check = made(where, meaning.relation, subject, expected, negated=meaning.negated, literal=literal)
    if (tolerance := place(meaning.tolerance)) is not None:
        check["tolerance"] = said(tolerance)
    if (message := place(meaning.message)) is not None:
        check["message"] = said(message)
    return check


def matcher(source: Source, subject: Span, wanted: Span, where: int) -> CheckFact:
    """`EXPECT_THAT(a, Not(Eq(3)))`, `REQUIRE_THAT(a, !Contains("x"))`."""
    negated = False
    for _ in range(20):
        turned = NOT.match(source.masked.code, *wanted)
        if turned is None:
            break
        negated, wanted = not negated, (turned.end(), wanted[1])
        if turned[0].endswith(b"!"):
            continue
        inner = source.given(turned.end())
        wanted = inner[0][0], inner[-1][1] if inner else wanted[1]
    value = source.part(subject)
    found = CALL.match(source.masked.code, *wanted)
    if found is None or found[4] != b"(":
        return made(where, "equal", value, source.part(wanted), negated=negated, literal=literal)
    name = found[2].decode()
    if name not in MATCHERS or _is_joined(source, wanted, found.end() - 1):
        relation = "matches" if name in SHAPES else "custom"
        return made(where, relation, value, source.part(wanted), negated=negated, literal=literal)
    relation, opposite = MATCHERS[name]
    inside = source.given(found.end() - 1)
    expected = source.part(inside[0]) if inside else None
    check = made(where, relation, value, expected, negated=negated != opposite, literal=literal)
    if relation == "approximate" and len(inside) > 1:
        check["tolerance"] = said(source.part(inside[1]))
    return check


def _is_joined(source: Source, wanted: Span, opened: int) -> bool:
    """Whether `&&` or `||` joins a matcher of Catch2 to another."""
    depth = 0
    for place, byte in enumerate(source.code((opened, wanted[1]))):
        depth += (byte == ord("(")) - (byte == ord(")"))
        if depth == 0:
            rest = source.code((opened + place + 1, wanted[1])).strip()
            return rest[:2] in (b"&&", b"||")
    return False
