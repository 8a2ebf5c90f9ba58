"""What a file of tests is about: what it imports and calls, in order, without what every test file has.

Reads text and no tree: the readers leave bodies out, and the first hints are found within the first lines.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

#: hints of one file, and letters of one hint
MOST: Final = 30
LONGEST: Final = 80
#: bytes of a file that are looked at
READ: Final = 262_144
SLASHES: Final = rb"""//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/)?|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'"""
HASHES: Final = rb'''\#[^\n]*+|"""[^"]*+(?:"(?!"")[^"]*+)*"""|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+\''''
#: From the first name of a chain only: from each of its names on, a long one without an end would take its square.
CALL: Final = rb"(?<![\w.>:\\])(?P<call>[A-Za-z_]\w*+(?:(?:\.|::|->|\?\.|\\)[A-Za-z_]\w*+)*+)[ \t]*+!?\("
DOTTED: Final = rb"^[ \t]*+(?:global[ \t]+)?(?:import|using|use)[ \t]+(?:static[ \t]+)?(?P<import>\w[\w.:\\]*+)"
JAVASCRIPT: Final = rb"""(?:\bfrom[ \t]*+|\bimport[ \t]*+\(?|\brequire[ \t]*+\()[ \t]*+["'](?P<import>[^"'\n]++)["']"""
PYTHON: Final = rb"^[ \t]*+(?:from|import)[ \t]+(?P<import>\.*+\w[\w.]*+)"
RUBY: Final = rb"""^[ \t]*+require(?:_relative)?[ \t(]++["'](?P<import>[^"'\n]++)["']"""
GO: Final = rb"""^(?:import)?[ \t]++(?:[\w.]+[ \t]+)?"(?P<import>[^"\n]++)"[ \t]*+$"""


def _pattern(imports: bytes, texts: bytes) -> re.Pattern[bytes]:
    return re.compile(b"|".join((imports, texts, CALL)), re.MULTILINE | re.DOTALL)


#: language -> what to look for
PATTERNS: Final = {
    "python": _pattern(PYTHON, HASHES),
    "ruby": _pattern(RUBY, HASHES),
    "go": _pattern(GO, SLASHES),
    **dict.fromkeys(("javascript", "typescript", "tsx"), _pattern(JAVASCRIPT, SLASHES)),
    **dict.fromkeys(("java", "kotlin", "groovy", "csharp", "php", "rust", "swift"), _pattern(DOTTED, SLASHES)),
}
#: a word in front of a name that leaves it a call; after any other word it is declared
LEADING: Final = frozenset(
    {b"new", b"return", b"throw", b"await", b"yield", b"else", b"in", b"not", b"and", b"or", b"raise", b"do", b"case",
     b"go", b"defer", b"assert", b"if", b"while", b"unless", b"when", b"try", b"is", b"echo", b"from"}
)  # fmt: skip
BEFORE: Final = re.compile(rb"([\w\]>?]+)[ \t]+\Z")
#: first names of test frameworks, and of what is there in every program
NOISE: Final = frozenset(  # as text, for a list would be a word a line
    """after afterAll afterEach all any append array assert assertThat bench before beforeAll beforeEach benchmark bool
    catch chai class close console context cy cypress def describe dict doctest each elif else enumerate error eq err
    errors except expect expectTypeOf fail fit float
    fmt for foreach format fun func function gtest hasattr Headers if import
    include input int isinstance isset it jest jasmine junit kotlin len let list listOf load log make map mapOf match
    max min mocha mock Mockito new node nil not None Ok Err Some None open org_junit out panic parametrize parent pend
    playwright print println private public pytest range raise raises require return rspec RSpec self sections set setOf
    setattr setup sinon sizeof skip sorted specify std str String strings subject suite sum super switch System tap
    teardown test testing testify this throw toString tuple type typeof unittest unless until using val var vec verify
    vi vitest void when where while with xdescribe xit yield zip Object Array Boolean Number Promise JSON Math Error
    Exception getattr property staticmethod classmethod unset empty count parent static assert_eq assert_ne
    assert_matches
    elseif use fn declare exit die
    Assert Assertions NUnit Xunit Xunit_Abstractions PHPUnit Pest XCTAssert Testing Test Is Has Throws""".split()  # noqa: SIM905
)
#: modules of test frameworks, by how they begin
FRAMEWORKS: Final = re.compile(
    r"(?:@?(?:pytest|unittest|jest|vitest|mocha|chai|sinon|jasmine|cypress|playwright|testing|node:test|bun:test|ava|tap|qunit"
    r"|minitest|rspec|test_helper|spec_helper|rails_helper|NUnit|Xunit|PHPUnit|Pest|XCTest|Testing|rstest|proptest|std"
    r"|assert)(?![\w-])|@(?:jest|vitest|playwright|testing-library)/|org\.(?:junit|testng|assertj|mockito|hamcrest|spockframework)"
    r"|io\.kotest|kotlin\.test|kotlin\.(?![a-z]+x)|java\.(?:util|lang|io)\b|spock\.|github\.com/(?:stretchr/testify|onsi)"
    r"|Microsoft\.VisualStudio\.TestTools|System(?:\.(?:Collections|Linq|Text|Threading)[\w.]*)?$|super|crate$)"
)
ASSERTIONS: Final = re.compile(
    r"(?:assert|expect|XCT|should|must|refute)[A-Z_]|(?:__\w+__|[a-z_]*test_?[a-z_]*|\w*Spec)$"
)
SEPARATOR: Final = re.compile(r"\?\.|->|::|\.|\\")


def hints(source: bytes, language: str) -> list[str]:
    """Hints of one file, none for languages without rules.  source: UTF-8."""
    pattern = PATTERNS.get(language)
    found: dict[str, None] = {}
    for hint in _all(pattern, source) if pattern is not None else ():
        found[hint] = None
        if len(found) == MOST:
            break
    return list(found)


def _all(pattern: re.Pattern[bytes], source: bytes) -> Iterator[str]:
    """Every hint, each call once."""
    done: set[bytes] = set()
    for token in pattern.finditer(source, 0, READ):
        kind = token.lastgroup
        if kind == "call":
            call = token["call"]
            # most calls of a file are repeated, and what one is called decides nearly all
            if call in done:
                continue
            hint = hint_of(call[: 8 * LONGEST])
            if hint is None or not _is_declared(source, token.start()):
                done.add(call)
                if hint is not None:
                    yield hint
        elif kind == "import":
            module = token["import"].decode("utf-8", "replace").rstrip(".:\\")
            if 2 < len(module) <= LONGEST and "://" not in module and not FRAMEWORKS.match(module):
                yield module


@lru_cache(maxsize=8_192)
def hint_of(call: bytes) -> str | None:
    """What a call tells by its first two names."""
    words = SEPARATOR.split(call.decode("utf-8", "replace")[: 2 * LONGEST])[:2]
    return ".".join(words) if is_telling(words) else None


def _is_declared(source: bytes, at: int) -> bool:
    """Whether a name follows another, as in `def name(` and `void name(`."""
    before = BEFORE.search(source[max(0, at - 40) : at])
    return before is not None and before[1] not in LEADING


def is_telling(words: list[str]) -> bool:
    """Whether a call says what a test is about."""
    whole = ".".join(words)
    if len(words[0]) < 3 or len(whole) > LONGEST or words[0] in NOISE or ASSERTIONS.match(words[0]):
        return False
    return not whole.isupper()
