"""Arguments of macro calls: where they stand, what they say, and the literals in them."""

import re
from collections.abc import Iterator
from typing import Final

SEPARATOR: Final = re.compile(rb"[(),]")
LONGEST: Final = 8_192  # bytes of all arguments of one call
DEEPEST: Final = 16
LITERAL: Final = re.compile(
    r'(?:u8|[uUL])?(?:R"(?P<mark>[^()\\\s"]{0,16})\((?P<raw>[\s\S]*?)\)(?P=mark)"|"(?P<plain>(?:[^"\\]++|\\[\s\S])*+)")\s*+'
)
ESCAPE: Final = re.compile(r"\\(\r?\n|[\s\S])")
ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "\n": "", "\r\n": ""}

Span = tuple[int, int]


def spans(code: bytes | bytearray, opened: int) -> tuple[list[Span], int] | None:
    """Split at commas as the preprocessor does.

    opened: offset of the opening bracket.  Returns the arguments and the offset after the closing bracket; None
    if it is not closed within reason.
    """
    depth, start = 0, opened + 1
    found: list[Span] = []
    for sign in SEPARATOR.finditer(code, opened, opened + LONGEST):
        byte = sign[0]
        if byte == b"(":
            depth += 1
            if depth > DEEPEST:
                return None
        elif byte == b")":
            depth -= 1
        if depth == 0 or (depth == 1 and byte == b","):
            found.append((start, sign.start()))
            start = sign.end()
        if depth == 0:
            return found, sign.end()
    return None


def text_of(source: bytes, code: bytes | bytearray, span: Span) -> str:
    """An argument as written, without comments."""
    start, end = span
    pieces, at = [], start
    while (quote := code.find(b'"', at, end)) >= 0:
        closing = code.find(b'"', quote + 1, end)
        closing = closing if closing >= 0 else end
        pieces += [bytes(code[at:quote]), source[quote : closing + 1]]
        at = closing + 1
    pieces.append(bytes(code[at:end]))
    return b"".join(pieces).decode("utf-8", "replace").strip()


def title_of(text: str) -> tuple[str | None, str]:
    """The value of the literals an argument begins with, None if it begins with none, and what follows them."""
    at, parts = 0, []
    while literal := LITERAL.match(text, at):
        parts.append(literal["raw"] if literal["plain"] is None else _unescaped(literal["plain"]))
        at = literal.end()
    return ("".join(parts) if parts else None), text[at:]


def literals(text: str) -> Iterator[str]:
    """Values of all literals in an argument."""
    for literal in LITERAL.finditer(text):
        yield literal["raw"] if literal["plain"] is None else literal["plain"]


def without_literals(text: str) -> str:
    """An argument in which texts say nothing."""
    return LITERAL.sub('"" ', text)


def _unescaped(text: str) -> str:
    return ESCAPE.sub(lambda found: ESCAPES.get(found[1], found[1]), text) if "\\" in text else text
