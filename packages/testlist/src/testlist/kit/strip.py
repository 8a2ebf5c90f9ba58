"""Source without the bodies of its functions, line for line where it was: parsing costs most, and few rules read them.

A scan by one expression finds where a body ends.  Its alternatives begin with different signs, so that there is one way
to read a text.  It stops at the first sign it is not sure of, and what follows is parsed as it is.
"""

import re
from collections.abc import Callable
from typing import Final

#: braces in braces that are followed; a body with more is parsed
NESTING: Final = 8
#: shorter bodies are not worth it
SHORTEST: Final = 48
#: as most languages write them
COMMENT: Final = rb"//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/"


def pattern(heading: bytes, plain: bytes, texts: bytes, doubtful: bytes) -> re.Pattern[bytes]:
    """An expression for `blanked`.

    heading: what stands before a body; plain: a stretch of a body without braces and `texts`; texts: strings and
    comments; doubtful: what ends the scan.
    """
    # repeated groups are not possessive: before CPython 3.11.5 such groups miss matches (gh-106052)
    body = rb"\{(?:%b|%b)*\}" % (plain, texts)
    for _ in range(NESTING):
        body = rb"\{(?:%b|%b|%b)*\}" % (plain, texts, body)
    # a heading may begin with a string
    return re.compile(rb"%b(?P<body>%b)|%b|(?P<doubtful>%b)" % (heading, body, texts, doubtful), re.DOTALL)


def nothing(_: re.Match[bytes]) -> bool:
    """No body is kept."""
    return False


def blanked(
    source: bytes,
    scan: re.Pattern[bytes],
    telling: Callable[[re.Match[bytes]], object] = nothing,
    *,
    within: bool = False,
) -> bytes:
    """Leave bodies out.  telling: whether a body that was found has to be read; within: but for the bodies in it."""
    parts: list[bytes] = []
    done = place = 0
    while (found := scan.search(source, place)) is not None and found.lastgroup != "doubtful":
        place = found.end()
        if found.lastgroup != "body":
            continue
        start, end = found.start("body") + 1, found.end() - 1
        if end - start < SHORTEST:
            continue
        if telling(found):
            place = start if within else place
            continue
        parts += [source[done:start], void(source[start:end])]
        done = end
    return b"".join([*parts, source[done:]]) if parts else source


def void(text: bytes) -> bytes:
    """Blanks of as many lines, and as many columns in the last: what stands behind keeps its place."""
    lines, newline, last = text.rpartition(b"\n")
    return b"\n" * (lines.count(b"\n") + len(newline)) + b" " * len(last)
