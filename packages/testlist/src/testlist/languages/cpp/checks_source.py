"""Stretches of C++ source for the reader of bodies: what they say, and the arguments of calls in them."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Final

from testlist.kit.checking import NOTHING, Part, whole
from testlist.languages.cpp.facts_arguments import Span, spans
from testlist.languages.cpp.strip import Masked

#: a comment, or what looks like one in a text; a raw text that is not closed ends with the file, and an escaped quote
#: outside of a text begins none, so that no part is read again and again
COMMENT: Final = re.compile(
    rb"""\b(?:u8|[uUL])?R"([^()\\\s"]{0,16}+)\((?:[\s\S]*?\)\1"|[\s\S]*+)"""
    rb"""|\\["'\\]|"(?:[^"\\\n]++|\\[\s\S])*+"|\b\d[\w.']*+|'(?:[^'\\\n]++|\\.)*+'"""
    rb"""|(?P<comment>//[^\n]*+|/\*[\s\S]*?\*/)"""
)
STRING: Final = re.compile(r'"([^"\\]*+)"(?:s|sv)?|R"\(([^()]*+)\)"')
INTEGER: Final = re.compile(r"(-?[\d']++)[uUlLzZ]{0,3}+")
#: a call from its beginning to its bracket: `a::b<C>(`, `a.b(`
CALL: Final = re.compile(rb"\s*+((?:[\w:.]|->)*?)(\w++)\s*+(?:<([^<>(){};]{0,120}+)>\s*+)?([({])")


@dataclass(frozen=True, slots=True)
class Source:
    """One file.  lines: offsets of their beginnings."""

    masked: Masked
    lines: list[int]

    def line(self, at: int) -> int:
        """Line of an offset, 1-based."""
        return bisect_right(self.lines, at)

    def part(self, span: Span) -> Part:
        """A stretch as it is written, without comments and blanks around it."""
        raw = self.masked.source[span[0] : span[1]]
        return Part(COMMENT.sub(lambda found: b" " if found["comment"] else found[0], raw).strip())

    def code(self, span: Span) -> bytes:
        """A stretch in which comments and texts are blank."""
        return bytes(self.masked.code[span[0] : span[1]])

    def given(self, opened: int) -> list[Span]:
        """Arguments of a call.  opened: offset of its bracket."""
        split = spans(self.masked.code, opened)
        found = split[0] if split is not None else []
        return [] if len(found) == 1 and not self.part(found[0]).text else found

    def call(self, span: Span) -> tuple[str, str, list[Span]] | None:
        """What a stretch calls if it is a call and nothing else: owner, name, arguments."""
        found = CALL.match(self.masked.code, span[0], span[1])
        if found is None or found[4] != b"(":
            return None
        split = spans(self.masked.code, found.end() - 1)
        if split is None or self.code((split[1], span[1])).strip(b" \t\r\n"):
            return None
        return found[1].decode("utf-8", "replace"), found[2].decode(), self.given(found.end() - 1)


def literal(part: Part) -> Any:
    """The value of a literal; NOTHING for anything else."""
    raw = part.text.decode("utf-8", "replace")
    if found := STRING.fullmatch(raw):
        return found[1] if found[1] is not None else found[2]
    if found := INTEGER.fullmatch(raw):
        digits = found[1].replace("'", "")
        if digits.lstrip("-").isdecimal() and (digits.lstrip("-")[:1] != "0" or digits == "0"):
            return whole(digits)
    return {"true": True, "false": False, "nullptr": None, "NULL": None}.get(raw, NOTHING)
