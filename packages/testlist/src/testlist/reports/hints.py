"""What a file of tests is about: what it imports and calls, in order, without what every test file has.

Reads text and no tree: the readers leave bodies out, and the first hints are found within the first lines.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from testlist.languages import LANGUAGES, OWNERS

#: hints of one file, and letters of one hint
MOST: Final = 30
LONGEST: Final = 80
#: bytes of a file that are looked at
READ: Final = 262_144
#: From the first name of a chain only: from each of its names on, a long one without an end would take its square.
CALL: Final = rb"(?<![\w.>:\\])(?P<call>[A-Za-z_]\w*+(?:(?:\.|::|->|\?\.|\\)[A-Za-z_]\w*+)*+)[ \t]*+!?\("
#: a word in front of a name that leaves it a call; after any other word it is declared
LEADING: Final = frozenset(
    {b"new", b"return", b"throw", b"await", b"yield", b"else", b"in", b"not", b"and", b"or", b"raise", b"do", b"case",
     b"assert", b"if", b"while", b"unless", b"when", b"try", b"is", b"echo", b"from"}
).union(*(language.hints.leading.encode().split() for language in LANGUAGES))  # fmt: skip
BEFORE: Final = re.compile(rb"([\w\]>?]+)[ \t]+\Z")
#: first names of what is there in every program; records of languages add their own and those of test frameworks
NOISE: Final = frozenset(  # as text, for a list would be a word a line
    """after afterAll afterEach all any Array array assert before beforeAll beforeEach bench benchmark bool Boolean
    catch class classmethod close console context count def describe dict each elif else enumerate eq err Error
    error errors except Exception expect fail fit float for foreach format fun getattr hasattr Headers if import
    include input int isinstance it JSON let list load log map match Math max min mock new node not Number
    Object open out private Promise property public raise range require return sections self set setattr setup
    skip sorted static staticmethod str String strings subject suite sum super switch System teardown test this
    throw tuple type using val var verify void when where while with zip""".split()  # noqa: SIM905
).union(*(language.hints.noise.split() for language in LANGUAGES))
#: modules of test frameworks, by how they begin
FRAMEWORKS: Final = re.compile(
    "(?:@?(?:assert|{})(?![\\w-])|{})".format(
        "|".join(name for language in LANGUAGES for name in language.hints.modules.split()),
        "|".join(start for language in LANGUAGES for start in language.hints.namespaces),
    )
)
ASSERTIONS: Final = re.compile(
    r"(?:assert|expect|XCT|should|must|refute)[A-Z_]|(?:__\w+__|[a-z_]*test_?[a-z_]*|\w*Spec)$"
)
SEPARATOR: Final = re.compile(r"\?\.|->|::|\.|\\")


@cache
def pattern_of(language: str) -> re.Pattern[bytes] | None:
    """What to look for in a language; None for one without rules."""
    owner = OWNERS.get(language)
    if owner is None or not owner.hints.imports:
        return None
    return re.compile(b"|".join((owner.hints.imports, owner.hints.texts, CALL)), re.MULTILINE | re.DOTALL)


def hints(source: bytes, language: str) -> list[str]:
    """Hints of one file, none for languages without rules.  source: UTF-8."""
    pattern = pattern_of(language)
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
    """The first two names of a call, if they hint at the subject."""
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
