"""Python without the bodies of its functions, line for line: what they do is nobody's concern, and parsing costs most.

Bodies are kept that return what may be a decorator, or write classes or functions, and those of hooks: see `facts`.  A
body ends where its indentation does, outside of brackets and strings.  The scan stops where that is in doubt, and what
follows is parsed as it stands.
"""

import re
from typing import Final

#: brackets in brackets that are followed
NESTING: Final = 6
#: shorter bodies are not worth it
SHORTEST: Final = 48
#: strings and comments; each begins in one way, so that there is one way to read a text
TEXTS: Final = (
    rb'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*"""' + rb"|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*'''"
    rb'|"(?!"")[^"\\\n]*+(?:\\.[^"\\\n]*+)*"' + rb"|'(?!'')[^'\\\n]*+(?:\\.[^'\\\n]*+)*'"
    rb"|\#[^\n]*+"
)
BLANK: Final = rb"(?:[ \t\r\f]*+(?:\#[^\n]*+)?\n)*"


def _pattern() -> re.Pattern[bytes]:
    # repeated groups are not possessive: before CPython 3.11.5 such groups miss matches (gh-106052)
    plain = rb"[^\"'#()\[\]{}]++"
    brackets = rb"[(\[{](?:%b|%b)*[)\]}]" % (plain, TEXTS)
    for _ in range(NESTING):
        brackets = rb"[(\[{](?:%b|%b|%b)*[)\]}]" % (plain, TEXTS, brackets)
    statement = rb"(?:[^\n\"'#()\[\]{}\\]++|%b|%b|\\.)*\n" % (TEXTS, brackets)
    inner = rb"(?:%b(?P=indent)[ \t]++(?=[^\s#])%b)*" % (BLANK, statement)
    heading = rb"^(?P<indent>[ \t]*+)(?:async[ \t]++)?def\b"
    return re.compile(rb"%b|%b%b(?P<body>%b)" % (TEXTS, heading, statement, inner), re.MULTILINE | re.DOTALL)


SCAN: Final = _pattern()
FIRST: Final = re.compile(BLANK + rb"(?P<indent>[ \t]++)")
FOLLOWING: Final = re.compile(BLANK + rb"(?P<indent>[ \t\r\f]*+)")
#: what puts tests into a class, unlike a method of this name
SETS: Final = re.compile(rb"(?<![.\w])setattr\(")
HOOK: Final = re.compile(rb"def\s+pytest_(?:collection_modifyitems|itemcollected)\b")
#: statements whose function is kept, and functions in it, which count if it returns them
TELLING: Final = re.compile(
    rb"^([ \t]++)(?:return\b[^\n]*?(?:[.(\[\\]|skip|(?P<lambda>\blambda\b))|class\b|@|(?:async\s+)?def\s+(?P<def>\w+))",
    re.MULTILINE,
)
RETURNED: Final = re.compile(rb"^[ \t]++return[ \t]++(\w++)[ \t;]*+(?:#|$)", re.MULTILINE)

#: the end of a decorator that may skip
HANDING: Final = re.compile(rb"^([ \t]++)return\s+\w+[ \t]*+(?:\#[^\n]*+)?$", re.MULTILINE)


def stripped(source: bytes) -> bytes:
    """Put one statement in the place of each body's last."""
    parts: list[bytes] = []
    done = 0
    for found in SCAN.finditer(source):
        start, end = found.span("body")
        if end <= start:
            continue
        after = FOLLOWING.match(source, end)
        if after and len(after["indent"]) > len(found["indent"]) and after.end() < len(source):
            break
        first = FIRST.match(source, start, end)
        if first is None or end - start < SHORTEST or HOOK.search(source, found.start(), start):
            continue
        if is_telling(source, start, end, first["indent"]):
            continue
        parts += [source[done:start], b"\n" * (source.count(b"\n", start, end) - 1), first["indent"], b"0\n"]
        done = end
    return b"".join([*parts, source[done:]]) if parts else source


def is_telling(source: bytes, start: int, end: int, indent: bytes) -> bool:
    """Whether a statement of the body itself may give or write a class, or a decorator, or any gives a function."""
    if SETS.search(source, start, end) is not None:
        return True
    functions = set()
    for found in TELLING.finditer(source, start, end):
        if found["def"]:
            functions.add(found["def"])
        elif found[1] == indent or found["lambda"]:
            return True
    if functions and not functions.isdisjoint(RETURNED.findall(source, start, end)):
        return True
    handing = HANDING.finditer(source, start, end) if source.find(b"kip", start, end) > 0 else ()
    return any(found[1] == indent for found in handing)
