"""Source without what its tests do, line for line where it was: no rule reads it, and parsing costs most.

A body is found by indentation: it ends at the first line that is not further in than its heading, and only if that line
closes it.  One in which that is in doubt, or which may say something of its test, is left as it stands.
"""

import re
from functools import lru_cache
from typing import Final

from testlist.languages.javascript.vocabulary import SUBTESTS

NAMES: Final = rb"(?:[fx]?(?:it|test)|specify)"
#: members that leave a call a test
MEMBERS: Final = rb"(?:\.(?:only|skip|concurrent|sequential|serial|fails|failing|fixme|fail))*"
QUOTED: Final = rb""""(?:[^"\\\n]++|\\.)*"|'(?:[^'\\\n]++|\\.)*'"""
TITLE: Final = rb"(?:%b|`(?:[^`\\$]++|\\.|\$(?!\{)|\$\{[^{}`\"']*+\})*`)" % QUOTED
TABLE: Final = rb"(?:\.(?:each|for)\((?:[^()]++|\([^()]*+\))*\))?"
OPTIONS: Final = rb"(?:\{(?:[^{}()\"'`/]++|%b)*\},\s*+)?" % QUOTED
RESULT: Final = rb"(?::[ ]?(?:void|any|Promise<\w++>))?"
#: begins with a sign that is quickly found; given: parameters
HEADING: Final = re.compile(
    rb"\n[ \t]*+(?:await[ ]|void[ ])?"
    + NAMES
    + MEMBERS
    + TABLE
    + rb"\(\s*+%b(?:\s*+\+\s*+%b)*,\s*+" % (TITLE, TITLE)
    + OPTIONS
    + rb"(?:async\b[ ]?)?"
    + rb"(?:(?:function\b\s*+\*?\s*+\w*+\s*+)?\((?P<given>[^()\"'`/]*+)\)%b\s*+(?:=>\s*+)?|(?P<alone>\w++)\s*+=>\s*+)"
    % RESULT
    + rb"\{[ \t\r]*+(?://[^\n]*+)?(?=\n)",
    re.DOTALL,
)
FIRST: Final = re.compile(rb"\w++")
INDENT: Final = re.compile(rb"[ \t]*+")
#: shorter bodies are not worth it, longer ones are not looked through
SHORTEST: Final = 24
LONGEST: Final = 65_536
#: ends not found before the rest is parsed as it stands
DOUBTS: Final = 500
#: methods of the object a running test is given, with which it declares tests
METHODS: Final = tuple(b"." + method.encode() for method in sorted(SUBTESTS))


def stripped(source: bytes) -> bytes:
    """Leave bodies of tests out."""
    parts: list[bytes] = []
    done = at = doubts = 0
    while doubts < DOUBTS and (found := HEADING.search(source, at)) is not None:
        start = at = found.end()
        end = end_of(source, start)
        doubts += end == 0
        if end - start < SHORTEST:
            continue
        body = source[start:end]
        if is_whole(body) and not is_telling(body, (found["given"] or found["alone"] or b"").lstrip()):
            parts += [source[done:start], b"\n" * body.count(b"\n")]
            done = at = end
    return b"".join([*parts, source[done:]]) if parts else source


def end_of(source: bytes, start: int) -> int:
    """Where the line begins that closes a body; 0 if it is in doubt."""
    indent = INDENT.match(source, source.rfind(b"\n", 0, start) + 1)
    templates, counted = 0, start
    for line in outer(indent[0] if indent else b"").finditer(source, start, start + LONGEST):
        templates += source.count(b"`", counted, line.start())
        counted = line.end()
        closing = source.startswith((b"})", b"},"), counted)
        if closing or templates % 2 == 0:
            return line.start() + 1 if closing and templates % 2 == 0 else 0
    return 0


@lru_cache(maxsize=64)
def outer(indent: bytes) -> re.Pattern[bytes]:
    """The beginning of a line that is as far in as a heading."""
    return re.compile(rb"\n%b(?![ \t\r\n])" % indent)


def is_whole(body: bytes) -> bool:
    """Whether all brackets and comments that begin in a body end there."""
    return (
        body.count(b"{") == body.count(b"}")
        and body.count(b"(") == body.count(b")")
        and body.rfind(b"/*") <= body.rfind(b"*/")
    )


def is_telling(body: bytes, given: bytes) -> bool:
    """Whether a body may leave its test out, or holds tests of the object it is given."""
    if b".skip(" in body or b".fixme(" in body:
        return True
    name = FIRST.match(given)
    return name is not None and any(name[0] + method in body for method in METHODS)
