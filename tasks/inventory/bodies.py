"""Source without the bodies of its functions, line for line where it was: parsing costs most, and few rules read them.

A scan by one expression tells where a body ends.  Its alternatives begin with different signs, so that there is one way
to read a text.  It stops at the first sign it is not sure of, and what follows is parsed as it stands.
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
    return re.compile(rb"%b|%b(?P<body>%b)|(?P<doubtful>%b)" % (texts, heading, body, doubtful), re.DOTALL)


def untold(text: bytes) -> bool:  # noqa: ARG001 - what tells takes a text
    """Say nothing of any text."""
    return False


def blanked(
    source: bytes, scan: re.Pattern[bytes], tells: Callable[[bytes], object] = untold, *, within: bool = False
) -> bytes:
    """Leave bodies out.  tells: whether a text holds what rules read in bodies; bodies that do are kept.

    within: leave bodies in kept bodies out as well.
    """
    parts: list[bytes] = []
    done = place = 0
    kept = bool(tells(source))
    while (found := scan.search(source, place)) is not None and found.lastgroup != "doubtful":
        place = found.end()
        if found.lastgroup != "body":
            continue
        start, end = found.start("body") + 1, found.end() - 1
        inside = source[start:end]
        if end - start < SHORTEST:
            continue
        if kept and tells(inside):
            place = start if within else place
            continue
        lines, newline, last = inside.rpartition(b"\n")
        # what stands behind the body keeps its line and its column
        parts += [source[done:start], b"\n" * (lines.count(b"\n") + len(newline)), b" " * len(last)]
        done = end
    return b"".join([*parts, source[done:]]) if parts else source
