"""Kotlin that the grammar cannot read: the same text without comments, annotations and the bodies of functions.

What the grammar fails at stands nearly always within a body, or is an annotation that it takes for the beginning of an
expression, yet costs the class around it.  Without them the declarations remain, each in its place.
"""

import re
from typing import Final

from testlist.languages.jvm.facts_tokens import Scanner
from testlist.languages.jvm.shape import Mark, mark

INTEREST: Final = re.compile(rb"[{};\"'/@]")
DECLARING: Final = re.compile(rb"\b(fun|class|interface|object|init|val|var)\b")
#: what stands before the body of a test in a specification
TESTING: Final = re.compile(rb"[xf]?(?:test|it|should|then|Then|scenario|expect)[ ]?\(")
NAME: Final = re.compile(rb"@([a-z]+:)?([A-Za-z_][\w.]*)")
VISIBLE: Final = re.compile(rb"[^\s]")
WORD: Final = re.compile(rb"\S")
LONGEST: Final = 500  # bytes of a heading that are looked at
#: place of a declaration -> its annotations
Marks = dict[int, list[Mark]]


class Blank:
    """One text."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.scanner = Scanner(source)
        self.parts: list[bytes] = []
        self.done = 0  # everything before is in parts
        self.annotations: list[tuple[int, int, Mark | None]] = []

    def text(self) -> bytes:
        """Every declaration in its line and column."""
        place = heading = 0
        while (found := INTEREST.search(self.source, place)) is not None:
            char, start, place = found[0], found.start(), found.end()
            if char in b"\"'":
                place = self.scanner.string(start)
            elif char == b"/":
                place = self.scanner.slash(start)
                self.blank(start, place if place > found.end() else start)
            elif char == b"@":
                place = self.annotation(start)
            elif char == b"{" and is_body(self.source[max(heading, start - LONGEST) : start]):
                place = heading = self.scanner.block(start) - 1
                self.blank(found.end(), place)
            else:
                heading = place
        return b"".join([*self.parts, self.source[self.done :]])

    def blank(self, start: int, end: int) -> None:
        """Leave out what stands between two places, but for its lines."""
        if end > start:
            self.parts += [self.source[self.done : start], VISIBLE.sub(b" ", self.source[start:end])]
            self.done = end

    def annotation(self, start: int) -> int:
        """Note an annotation, and go behind it."""
        found = NAME.match(self.source, start)
        before = self.source[start - 1 : start]
        if found is None or before.isalnum() or before == b"_":
            return start + 1
        end, arguments = found.end(), b""
        if self.source.startswith(b"(", end):
            close = self.scanner.block(end)
            arguments, end = self.source[end:close], close
        noted = mark(found[2].decode(), arguments.decode("utf-8", "replace")) if not found[1] else None
        self.annotations.append((start, end, noted))
        self.blank(start, end)
        return end

    def marks(self, text: bytes) -> Marks:
        """Annotations by the place of what they stand before.  text: what this made."""
        marks: Marks = {}
        for _, end, noted in self.annotations:
            following = WORD.search(text, end)  # others between are blank by now
            if following is not None and noted is not None:
                marks.setdefault(following.start(), []).append(noted)
        return marks


def is_body(heading: bytes) -> bool:
    """Whether a function or a test begins here, by what stands before its brace."""
    if b"Spec" in heading.rpartition(b"\n")[2]:
        return False
    declared = DECLARING.findall(heading)
    last = heading.rstrip().rpartition(b"\n")[2].strip()
    return declared[-1:] == [b"fun"] or (not declared and bool(TESTING.match(last) or last.endswith(b'"')))
