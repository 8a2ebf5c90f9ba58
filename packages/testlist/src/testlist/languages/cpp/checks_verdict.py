"""Why a test of C++ passes whatever the code does: read from the stretches between its semicolons.

A failed check is recorded, or returns, so that no `catch` forgets it.  What is not known to be harmless may throw.
"""

import re
from collections.abc import Iterator
from typing import Final

from testlist.kit.bodies import BodyFact, Passes
from testlist.kit.checking import NOTHING, Part
from testlist.languages.cpp.checks_macros import checks_of
from testlist.languages.cpp.checks_source import Source, literal
from testlist.languages.cpp.facts_arguments import Span, spans
from testlist.languages.cpp.vocabulary_checks import CONDITIONS, MACROS

#: a file with any of these may run more around its tests than they say
SURROUNDED: Final = re.compile(
    rb"SetUp|TearDown|Environment|FIXTURE|fixture|(?i:listener)|IReporter|DECORATOR|GLOBAL_CONFIGURATION"
    rb"|\bTEST_GROUP|CppUTest"
)
#: a file that gives a macro, or what it is given, a meaning of its own
REDEFINED: Final = re.compile(
    rb"#[ \t]*+(?:define|undef)[ \t]++"
    rb"(?:(?:TEST|SCENARIO|BOOST|EXPECT|ASSERT|CHECK|REQUIRE|CATCH|DOCTEST|GTEST)\w*+|true|false|return|int|bool|auto)\b"
)
#: macros of tests that bring no fixture, with names and texts alone: a macro of tags may say that a test has to fail
BARE: Final = re.compile(
    rb"""(?:(?:TEST|BOOST_AUTO_TEST_CASE)\s*+\(\s*+\w++\s*+(?:,\s*+\w++\s*+)?"""
    rb"""|(?:TEST_CASE|SCENARIO)\s*+\(\s*+"[^"\\\n]*+"\s*+(?:,\s*+"[^"\\\n]*+"\s*+)?)\)\s*+\{"""
)
CUT: Final = re.compile(rb"[;{}()]")
#: a check, and nothing else
CHECK: Final = re.compile(rb"\s*+([A-Z][A-Z_0-9]*+)\s*+\(")
#: a name of a plain type with its value, and one that is given away
DECLARED: Final = re.compile(
    rb"(?:(?:const|constexpr|static|auto|bool|char|short|int|long|unsigned|signed|float|double|(?:std::)?size_t)\s++"
    rb"|const\s+char\s*\*\s*)+(\w++)\s*+=([^=].*+)",
    re.DOTALL,
)
GIVEN: Final = re.compile(
    rb"(?:\(\s*void\s*\)\s*(\w+)|static_cast\s*<\s*void\s*>\s*\(\s*(\w+)\s*\)|(\w+)\s*=([^=].*))", re.DOTALL
)
#: a sum of small numbers and names
TERM: Final = re.compile(rb"\s*+(?:-\s*+)?(?:\d{1,6}+(?:\.\d{1,6}+)?|(\w++))\s*+")
SIGNS: Final = re.compile(rb"[-+]")
MOST_TERMS: Final = 10


def verdict(source: Source, span: Span, head: bytes, body: BodyFact) -> Passes | None:
    """Why a test passes; None if it may fail, or if nobody knows.  head: the source before its block."""
    if not BARE.fullmatch(head) or b"!" in head:
        return None  # decorators and tags may say that it has to fail
    inside = source.masked.source[span[0] : span[1]]
    if b"#" not in inside and not source.code(span).strip():
        return "empty"
    known: set[bytes] = set()
    has_constant = False
    for one in _statements(source, span):
        written = source.part(one).text
        if b"#" in inside[: one[1] - span[0]]:
            return None  # a branch of the preprocessor may hold anything
        if written == b"return":
            rest = source.line(one[1])
            is_checked = any(check["line"] >= rest and "idle" not in check for check in body["checks"])
            return "unreachable" if is_checked else "constant" if has_constant else "no_check"
        if _holds(source, one):
            has_constant = True
        elif not _is_calm(written, known):
            return None
    return None if b"#" in inside else "constant" if has_constant else "no_check"


def _statements(source: Source, span: Span) -> Iterator[Span]:
    """Stretches between semicolons; what stands in braces is part of one, which nobody knows then."""
    depth, begin = 0, span[0]
    for found in CUT.finditer(source.masked.code, *span):
        depth += {b"(": 1, b"{": 1, b")": -1, b"}": -1}.get(found[0], 0)
        if found[0] == b";" and depth == 0:
            if source.code((begin, found.start())).strip():
                yield begin, found.start()
            begin = found.end()
    if source.code((begin, span[1])).strip():
        yield begin, span[1]


def _holds(source: Source, span: Span) -> bool:
    """Whether a statement is a check of literals that is known to hold, and is given nothing else."""
    found = CHECK.match(source.masked.code, *span)
    name = found[1].decode() if found is not None else ""
    if found is None or (name not in CONDITIONS and name not in MACROS):
        return False
    split = spans(source.masked.code, found.end() - 1)
    if split is None or source.code((split[1], span[1])).strip():
        return False  # what is streamed into it
    given = [source.part(one) for one in split[0]]
    texts = [one.text for one in given if b'"' in one.text]
    if texts and not ("MESSAGE" in name and texts == [given[-1].text] and literal(given[-1]) is not NOTHING):
        return False  # texts are compared by where they are
    if not all(map(_is_plain, given)):
        return False
    checks = list(checks_of(source, name, split[0], 0, split[1]))
    return bool(checks) and all(check.get("idle") == "constant" for check in checks)


def _is_plain(part: Part) -> bool:
    """Whether nothing is called or named but what is written out."""
    return (
        literal(part) is not NOTHING
        or re.fullmatch(rb"[\d\s()=!<>&|]*(?:\b(?:true|false|nullptr)\b[\d\s()=!<>&|]*)*", part.text) is not None
    )


def _is_calm(written: bytes, known: set[bytes]) -> bool:
    """Whether a statement gives a name a value that is written out, or gives one away."""
    if (declared := DECLARED.fullmatch(written)) is not None:
        if _is_value(declared[2], known):
            known.add(declared[1])
            return True
        return False
    found = GIVEN.fullmatch(written)
    if found is None:
        return False
    if found[3] is not None:
        return found[3] in known and _is_value(found[4], known)
    return (found[1] or found[2]) in known


def _is_value(written: bytes, known: set[bytes]) -> bool:
    """Whether a value is a literal, a name with a known value, or a short sum of both."""
    if literal(Part(written.strip())) is not NOTHING:
        return True
    terms = [TERM.fullmatch(one) for one in SIGNS.split(written)]
    return len(terms) <= MOST_TERMS and all(one is not None and (one[1] is None or one[1] in known) for one in terms)
