"""Groovy text without a grammar: where strings, comments and brackets end, and which statements carry labels.

No published grammar reads Groovy's methods that are named by a string, so this reads it by hand.  Every step moves
forward, and nothing is searched for twice: the time is linear in the text whatever it holds.
"""

import re
from typing import Final

INTEREST: Final = re.compile(rb"[{}()\[\]\"'/\n;]")
LABEL: Final = re.compile(rb"[ \t\r]*([A-Za-z_]\w*)[ \t]*:(?!:)")
IN_STRING: Final = {b'"': re.compile(rb'["\\\n$]'), b"'": re.compile(rb"['\\\n]")}
IN_TEXT: Final = {b'"': re.compile(rb'\\|"""'), b"'": re.compile(rb"\\|'''")}
SLASH: Final = re.compile(rb"[/\\\n]")
#: after one of these words a slash begins a string
EXPECTANT: Final = frozenset({b"return", b"in", b"case", b"assert", b"and", b"throw", b"else"})
#: a line that follows one of these continues the statement before it
CONTINUING: Final = frozenset(b",?=&|+*.<")
CLOSING: Final = frozenset(b"}])")
SPACE: Final = b" \t\r\n\f"
DEEPEST: Final = 20  # strings in expressions in strings


class Scanner:
    """One text."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.size = len(source)
        self.no_slash = 0  # no slashy string begins before this place
        self.no_dollar = False  # no `/$` is left

    def block(self, start: int, *, labels: list[str] | None = None, depth: int = 0) -> int:
        """Go from an opening bracket to behind the one that closes it.  labels: takes those of direct statements."""
        level, place = 0, start
        while (found := INTEREST.search(self.source, place)) is not None:
            char = self.source[found.start()]
            place = found.end()
            if char in b"{[(":
                level += 1
            elif char in b"}])":
                level -= 1
                if level <= 0:
                    return place
            elif char in b"\"'":
                place = self.string(found.start(), depth)
            elif char == 0x2F:
                place = self.slash(found.start())
            if labels is not None and level == 1 and char in b"{\n;":
                self._label(place, labels)
        return self.size

    def _label(self, place: int, labels: list[str]) -> None:
        found = LABEL.match(self.source, place)
        if found is not None and self._before(place) not in CONTINUING:
            labels.append(found[1].decode())

    def _before(self, place: int) -> int:
        """The last character before a place that is no space; 0 at the beginning."""
        head = self.source[max(0, place - 200) : place].rstrip(SPACE)
        return head[-1] if head else 0

    def string(self, start: int, depth: int = 0) -> int:
        """Go behind the string that begins here; one that is not closed ends with its line, or with the text."""
        quote = self.source[start : start + 1]
        if self.source.startswith(quote * 3, start):
            return self._text(start + 3, quote)
        place = start + 1
        while (found := IN_STRING[quote].search(self.source, place)) is not None:
            place = found.end()
            if found[0] == quote:
                return place
            if found[0] == b"\n":
                return place - 1
            if found[0] == b"\\":
                place += 1
            elif self.source.startswith(b"{", place) and depth < DEEPEST:
                place = self.block(place, depth=depth + 1)
        return self.size

    def _text(self, place: int, quote: bytes) -> int:
        """A string in three quotes."""
        while (found := IN_TEXT[quote].search(self.source, place)) is not None:
            place = found.end()
            if len(found[0]) == 3:
                while self.source.startswith(quote, place):  # the last three end it
                    place += 1
                return place
            place += 1
        return self.size

    def slash(self, start: int) -> int:
        """Go behind a comment or a string in slashes, or behind the slash of a division."""
        source = self.source
        if source.startswith(b"//", start) and not self._may_begin_string(start, empty=True):
            end = source.find(b"\n", start)
            return end if end >= 0 else self.size
        if source.startswith(b"/*", start):
            end = source.find(b"*/", start + 2)
            return end + 2 if end >= 0 else self.size
        if source[start - 1 : start] == b"$" and not self.no_dollar:
            end = source.find(b"/$", start + 1)
            self.no_dollar = end < 0
            return end + 2 if end >= 0 else start + 1
        return self._slashy(start) if self._may_begin_string(start) else start + 1

    def _may_begin_string(self, start: int, *, empty: bool = False) -> bool:
        """Whether an operand is expected here, so that a slash cannot divide."""
        if empty:
            return False
        head = self.source[max(0, start - 200) : start].rstrip(b" \t")
        last = head[-1:]
        if last.isalnum() or last == b"_":
            return re.split(rb"[^A-Za-z_]", head[-12:])[-1] in EXPECTANT
        return last not in {b")", b"]", b"}", b'"', b"'", b"\\"}

    def _slashy(self, start: int) -> int:
        """A string in slashes on one line; a slash that finds no partner there is taken for a division."""
        if start < self.no_slash:
            return start + 1
        place = start + 1
        while (found := SLASH.search(self.source, place)) is not None and found[0] != b"\n":
            place = found.end()
            if found[0] == b"/":
                return place
            place += 1
        self.no_slash = found.start() if found is not None else self.size
        return start + 1
