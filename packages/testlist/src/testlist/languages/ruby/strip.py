"""Source without what examples and their preparation do, line for line where it was: nothing reads it.

A body is found by indentation: it ends at the first line that is not further in than its heading, and only if that line
is the `end` of it.  A body in which a text is still open there, or which skips at once, is left as it stands.
"""

import re
from bisect import bisect_right
from functools import lru_cache
from typing import Final

#: calls and methods whose bodies declare nothing; of examples those with a title, for which a body stands otherwise
HEADING: Final = re.compile(
    rb"""^([\ \t]*+)(?:
    def[\ ]test_\w++[?!]?\n
    |(?:it|specify|scenario|test|should)(?:[\ ]|\()["'](?:[^\n<]|<(?!<))*?[\ )]do\n
    |(?:let!?|subject!?)\(:\w++\)[\ ]do\n
    |(?:before|after|around|setup|teardown)(?:[\ (][^\n<"']{0,80})?[\ ]do(?:[\ ]\|\w++\|)?\n
    )""",
    re.MULTILINE | re.VERBOSE,
)
#: what opens a text that ends at a line of its own
OPENING: Final = re.compile(rb"<<[-~]?+([\"'`]?)([A-Za-z_]\w*+)\1")
#: a comment or a text in which indentation means nothing may begin here
BLOCK: Final = re.compile(rb"^(?:=begin|__END__)", re.MULTILINE)
#: shorter bodies are not worth it, longer ones are not looked through
SHORTEST: Final = 24
LONGEST: Final = 16_384


def stripped(source: bytes) -> bytes:
    """Leave bodies out."""
    if BLOCK.search(source):
        return source
    parts: list[bytes] = []
    done = at = 0
    while (found := HEADING.search(source, at)) is not None:
        start = at = found.end()
        indent = found[1]
        end = outer(indent).search(source, start, start + LONGEST)
        if end is None or end.start() - start < SHORTEST or not source.startswith(indent + b"end\n", end.start()):
            continue
        body = source[start : end.start()]
        if body.lstrip().startswith((b"skip", b"#")) or is_open(body):
            continue
        parts += [source[done:start], b"\n" * body.count(b"\n")]
        done = at = end.start()
    return b"".join([*parts, source[done:]]) if parts else source


@lru_cache(maxsize=64)
def outer(indent: bytes) -> re.Pattern[bytes]:
    """The first line that is not further in than a heading."""
    return re.compile(rb"^(?!%b[ \t]|[ \t]*$)" % indent, re.MULTILINE)


def is_open(body: bytes) -> bool:
    """Whether a text begins in a body and ends behind it, so that the `end` that was found stands in a text."""
    if b"<<" not in body:
        return False
    lines = {line.strip() for line in body.split(b"\n")}
    return any(found[2] not in lines for found in OPENING.finditer(body))


def plain(source: bytes) -> bytes:
    """Leave texts out that end at a line of their own, for a grammar that lost its way in one."""
    lines = source.split(b"\n")
    places: dict[bytes, list[int]] = {}
    for number, line in enumerate(lines):
        places.setdefault(line.strip(), []).append(number)
    at = 0
    while at < len(lines):
        head = at
        for found in OPENING.finditer(lines[head]) if not lines[head].lstrip().startswith(b"#") else ():
            known = places.get(found[2], [])
            after = bisect_right(known, at)
            if after < len(known):  # without an end it is no text
                lines[at + 1 : known[after]] = [b""] * (known[after] - at - 1)
                at = known[after]
        at += 1
    return b"\n".join(lines)
