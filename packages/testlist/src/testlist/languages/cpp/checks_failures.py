"""Failures of C++ under a condition, or around a `catch`: `if (a != b) FAIL();`, `catch (E&) { FAIL(); }`."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from testlist.kit.bodies import CheckFact
from testlist.kit.failures import raised
from testlist.languages.cpp.checks_conditions import conditions
from testlist.languages.cpp.checks_source import Source
from testlist.languages.cpp.facts_arguments import Span
from testlist.languages.cpp.vocabulary_checks import FAILS

SIGN: Final = re.compile(rb"[(){};]")
#: the word before a bracket, and before a block
CONTROL: Final = re.compile(rb"\b(if(?:\s+constexpr)?|catch)\s*\Z")
PLAIN: Final = re.compile(rb"\b(else|try)\s*\Z")
CATCH: Final = re.compile(rb"\s*+catch\s*+(?=\()")
#: bytes before a bracket that are looked at
NEAR: Final = 40
FAILING: Final = re.compile(rb"\b(?:" + b"|".join(sorted(one.encode() for one in FAILS)) + rb")\s*+\(|\bthrow\b")
#: the type of what a `catch` takes
KIND: Final = re.compile(r"(?:const\s+)?([\w:]+(?:<[^<>]{0,80}>)?)(?:\s+const)?[\s&*]*\w*")
#: bytes that are looked at together for one that is no blank
PIECE: Final = 256
#: clauses of one `try`
MOST: Final = 20


class _Head(NamedTuple):
    """What decides on a block or a statement.  word: `if`, `else`, `try` or `catch`; at: where it begins."""

    word: str
    at: int
    given: Span = (0, 0)


class Outline:
    """Brackets and ends of statements in one body, read once.

    pairs: of a bracket, the other one; ends: of a block, where its statements end; marks, blocks: offsets, and the
    innermost block from there on; reported: where an `if` or a `try` begins of which a check is made.
    """

    def __init__(self, source: Source, span: Span) -> None:
        self.source, self.span, self.code = source, span, source.masked.code
        self.pairs: dict[int, int] = {}
        self.ends: dict[int, list[int]] = {}
        self.marks, self.blocks = [span[0]], [-1]
        self.reported: set[int] = set()
        self.heads: dict[int, _Head | None] = {}
        self._read()

    def _read(self) -> None:
        stack: list[tuple[int, bytes]] = []
        for found in SIGN.finditer(self.code, *self.span):
            at, sign = found.start(), found[0]
            if sign in (b"(", b"{"):
                stack.append((at, sign))
            elif sign != b";" and stack:
                opened = stack.pop()[0]
                self.pairs[opened], self.pairs[at] = at, opened
            if sign in (b";", b"}") and stack and stack[-1][1] == b"{":
                self.ends.setdefault(stack[-1][0], []).append(at)
            self.marks.append(at + 1)
            self.blocks.append(next((opened for opened, one in reversed(stack[-20:]) if one == b"{"), -1))

    def decided(self, at: int) -> Iterator[CheckFact]:
        """What has to hold as a macro fails the test else.  at: of the macro."""
        block = self.blocks[bisect_right(self.marks, at) - 1]
        head = self._head(at)
        if head is None and self._before(at)[-1:] in (b";", b"{", b"}") and block >= 0:
            head = self._head(block)
        if head is None or head.at in self.reported:
            return
        self.reported.add(head.at)
        where = self.source.line(head.at)
        if head.word in ("if", "else"):
            begin = self.code.rfind(b";", *head.given) + 1 or head.given[0]  # `if (auto a = b; c)`
            yield from conditions(self.source, (begin, head.given[1]), where, negated=head.word == "if")
        elif head.word == "try":
            yield from self._raised(block, at, where)
        else:
            yield from self._unraised(head)

    def _raised(self, block: int, at: int, where: int) -> Iterator[CheckFact]:
        """`try { f(); FAIL(); } catch (E) { }`."""
        alive = [given for given, inner in self._clauses(block) if not self._is_failing(inner)]
        begun = [block + 1, *(end + 1 for end in self.ends.get(block, []) if end < at)]
        parts = [
            self.source.part((one, end)).text.strip(b"; ") for one, end in zip(begun, [*begun[1:], at], strict=True)
        ]
        tried = [one for one in parts if one]
        if alive and tried:
            yield raised(where, tried[-1], [self._kind(given) for given in alive], negated=False)

    def _unraised(self, head: _Head) -> Iterator[CheckFact]:
        """`try { f(); } catch (E) { FAIL(); }`; nothing if the `try` fails as well, which says more."""
        for _ in range(MOST):
            end = self._end(head.at)
            block = self.pairs.get(end, -1) if self.code[end : end + 1] == b"}" else -1
            above = self._head(block) if block >= 0 else None
            if above is None or above.word != "catch":
                break
            head = above
        if above is None or above.word != "try" or above.at in self.reported or self._is_failing((block, end)):
            return
        self.reported.add(above.at)
        failing = [given for given, inner in self._clauses(block) if self._is_failing(inner, b"throw")]
        tried = self.source.part((block + 1, end)).text.rstrip(b"; ")
        if tried and failing:
            yield raised(self.source.line(above.at), tried, [self._kind(one) for one in failing], negated=True)

    def _clauses(self, block: int) -> Iterator[tuple[Span, Span]]:
        """What follows the block of a `try`: what each clause takes, and its block."""
        at = self.pairs.get(block, -1)
        for _ in range(MOST):
            found = CATCH.match(self.code, at + 1, self.span[1]) if at >= 0 else None
            closed = self.pairs.get(found.end(), -1) if found is not None else -1
            inner = self.code.find(b"{", closed) if closed >= 0 else -1
            at = self.pairs.get(inner, -1)
            if found is None or at < 0:
                return
            yield (found.end() + 1, closed), (inner, at)

    def _is_failing(self, block: Span, passing: bytes = b"") -> bool:
        """Whether a block itself fails the test, or throws.  passing: a word that does not count."""
        found = (one for one in FAILING.finditer(self.code, *block) if one[0] != passing)
        return any(self.blocks[bisect_right(self.marks, one.start()) - 1] == block[0] for one in found)

    def _kind(self, given: Span) -> list[str]:
        written = self.source.part(given).text.decode("utf-8", "replace")
        found = KIND.fullmatch(written)
        return [] if written == "..." else [found[1] if found is not None else written]

    def _head(self, at: int) -> _Head | None:
        """What stands before a block or a statement and decides on it."""
        if at not in self.heads:
            self.heads[at] = self._found(at)
        return self.heads[at]

    def _found(self, at: int) -> _Head | None:
        end = self._end(at)
        near = bytes(self.code[max(self.span[0], end + 1 - NEAR) : end + 1])
        if self.code[end : end + 1] == b")" and (opened := self.pairs.get(end)) is not None:
            before = bytes(self.code[max(self.span[0], opened - NEAR) : opened])
            found = CONTROL.search(before)
            word = found[1].split()[0].decode() if found is not None else ""
            return _Head(word, opened - len(before) + found.start(), (opened + 1, end)) if found is not None else None
        if (plain := PLAIN.search(near)) is None:
            return None
        start = end + 1 - len(near) + plain.start()
        if plain[1] == b"try":
            return _Head("try", start)
        closed = self._end(start)
        block = self.pairs.get(closed, -1) if self.code[closed : closed + 1] == b"}" else -1
        above = self._head(block) if block >= 0 else None
        return _Head("else", start, above.given) if above is not None and above.word == "if" else None

    def _before(self, at: int) -> bytes:
        end = self._end(at)
        return bytes(self.code[end : end + 1])

    def _end(self, at: int) -> int:
        """The last byte before an offset that is no blank."""
        while at > self.span[0]:
            piece = self.code[max(self.span[0], at - PIECE) : at]
            if left := piece.rstrip():
                return at - len(piece) + len(left) - 1
            at -= len(piece)
        return at - 1
