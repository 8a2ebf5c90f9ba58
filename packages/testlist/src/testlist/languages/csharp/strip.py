"""C# without bodies: declarations stay where they are, what members do becomes blanks.

The grammar does not read all of the language, and one expression it trips over costs the rest of a class.
Declarations are read reliably, and with nothing else left to parse also several times faster.
"""

import re
from typing import Final

from testlist.languages.csharp.strip_tokens import BRACES, blank, pattern, tokens

MEMBER: Final = pattern(rb"{}()\[\];=", rb"=>|==|[{}()\[\];=]")
VALUE: Final = pattern(rb"{}()\[\];", rb"[{}()\[\];]")
#: what holds members that are read; `class` may also stand in a constraint
HOLDER: Final = re.compile(rb"\b(?:class|struct|record|namespace)\s+(?!where\b)@?\w")
USING: Final = re.compile(rb"(?:global\s+)?using\b")
#: `T Interface.Name`
EXPLICIT: Final = re.compile(rb"\.\s*+@?\w++\Z")
LONGEST: Final = 200
OPEN: Final = b"{(["
CLOSE: Final = b"})]"
#: first characters of operators that end in `=`
OPERATORS: Final = (b"!", b"<", b">")


def stripped(source: bytes) -> bytes:
    """Leave out bodies, values and comments; what remains keeps line and column.  source: without directives."""
    reading = _Outline(source)
    position = 0
    while position < len(source):
        position = reading.member(position)
    return b"\n".join([line.rstrip() for line in reading.kept.split(b"\n")])


class _Outline:
    """State of one pass.  head: where the declaration at hand begins, after its attributes; depth: of brackets in it.

    last: where its last bracket ended.
    """

    def __init__(self, source: bytes) -> None:
        self.source, self.kept = source, bytearray(source)
        self.head = self.depth = 0
        self.paren: int | None = None
        self.attribute = False
        self.last = -1

    def member(self, position: int) -> int:
        """Read on to the next body or value; returns where to go on."""
        for token in tokens(MEMBER, self.source, position):
            sign = token["sign"]
            start, end = token.span("sign")
            if sign is None:
                if token.lastgroup == "comment":
                    self.comment(*token.span("comment"))
            elif sign in b"()[]" or self.depth:
                self.bracket(sign, start, end)
                self.last = end
            elif sign in (b"=", b"=>") and self.gives(start):
                return self.value(start, end)
            elif sign == b"{" and not self.holds(start):
                return self.body(end)
            elif sign in b"{};":
                self.begin(end)
        return len(self.source)

    def comment(self, start: int, end: int) -> None:
        """Blank out a comment; a declaration begins behind those in front of it."""
        blank(self.kept, start, end)
        if not self.source[self.head : start].strip():
            self.head = end

    def gives(self, start: int) -> bool:
        """Whether a sign is followed by a value: an alias is none, nor is the name of an operator."""
        return self.source[start - 1 : start] not in OPERATORS and not USING.match(self.words(start))

    def begin(self, position: int) -> None:
        """Expect a new declaration."""
        self.head, self.depth, self.paren, self.attribute, self.last = position, 0, None, False, -1

    def bracket(self, sign: bytes, start: int, end: int) -> None:
        """Follow brackets; attributes in front are no part of a declaration's words."""
        if sign in OPEN:
            if not self.depth and sign == b"[" and not self.words(start):
                self.attribute = True
            elif not self.depth and self.paren is None:
                self.paren = start
            self.depth += 1
            return
        self.depth = max(0, self.depth - (sign in CLOSE))
        if not self.depth and self.attribute:
            self.begin(end)

    def words(self, stop: int) -> bytes:
        """The declaration up to its first parenthesis."""
        return self.source[self.head : stop if self.paren is None else self.paren].strip()

    def holds(self, start: int) -> bool:
        """Whether a brace opens what holds members."""
        return bool(HOLDER.search(self.words(start)))

    def body(self, position: int) -> int:
        """Blank out a body up to its closing brace."""
        depth = 1
        for token in tokens(BRACES, self.source, position):
            if (sign := token["sign"]) is not None:
                depth += 1 if sign == b"{" else -1
                if not depth:
                    return self.close(position, token.start("sign"), token.end())
        return self.close(position, len(self.source), len(self.source))

    def value(self, position: int, after: int) -> int:
        """Blank out a value or an arrow's body up to its semicolon; one after a property's braces goes with it."""
        depth, bare = 0, not self.words(position) or self.is_braced(position)
        for token in tokens(VALUE, self.source, after):
            sign = token["sign"]
            if sign is None:
                continue
            if depth == 0 and sign == b"}":
                return self.close(position, token.start("sign"), token.start("sign"))
            if depth == 0 and sign == b";":
                return self.close(position, token.end() if bare else token.start("sign"), token.end())
            depth += 0 if sign == b";" else 1 if sign in OPEN else -1
        return self.close(position, len(self.source), len(self.source))

    def is_braced(self, position: int) -> bool:
        """Whether the grammar asks for braces here: behind an indexer, and behind a property of an interface."""
        words = self.source[max(self.head, self.last, position - LONGEST) : position].strip()
        if not words:
            return self.last > 0 and self.source[self.last - 1 : self.last] == b"]"
        return EXPLICIT.search(words) is not None and b"where" not in words

    def close(self, start: int, stop: int, end: int) -> int:
        """Blank out a stretch and go on behind it; what needs a body keeps an empty one."""
        blank(self.kept, start, stop)
        if self.is_braced(start) and stop - start > 1:
            self.kept[start : start + 2] = b"{}"
        self.begin(end)
        return end
