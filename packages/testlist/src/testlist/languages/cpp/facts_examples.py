"""Calls by which Quick, Specta, Kiwi and Cedar declare groups and examples in Objective-C."""

import re
from typing import Final, NamedTuple

from testlist.languages.cpp.facts_arguments import text_of
from testlist.languages.cpp.strip import Masked
from testlist.languages.cpp.vocabulary_objc import BEGINS, EXAMPLES, GROUPS, PENDING, PREFIXES, SHARED

OPENED: Final = re.compile(rb"\s*+\(")
#: a literal, or several that the compiler joins
LITERAL: Final = re.compile(rb'\s*+@?"((?:[^"\\\n]++|\\[\s\S])*+)"')
#: a title that is made when it runs, what opens the block of a call, and what is no block
MADE: Final = re.compile(rb"([^^{};]{1,400}?),\s*+\^")
LAST: Final = re.compile(rb"\s*+[,)]")
BLOCK: Final = re.compile(rb"\s*+,?\s*+\^[^{};]{0,400}+\{")
NONE: Final = re.compile(rb"\s*+(?:,\s*+(?:PENDING|nil|NULL)\s*+)?\)")
ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
#: after what a statement may stand
BEFORE: Final = (b"", b";", b"{", b"}", b")", b":")
DECIDES: Final = re.compile(rb"\b(?:if|else)\b[^;{}]*+\Z")
LOOK_BACK: Final = 200
LONGEST_TITLE: Final = 1_000
MOST_PARTS: Final = 100


class Call(NamedTuple):
    """One call.  brace: offset of what opens its block; made: its title is made when it runs.

    is_shared: a group that other files may use; to_write: an example without a block.
    """

    title: str
    is_group: bool
    status: str | None
    brace: int | None
    made: bool
    is_shared: bool = False
    to_write: bool = False


def called(masked: Masked, word: str, at: int, end: int) -> Call | None:
    """Read a call of a word; None for anything else.  at, end: of the word."""
    opened = OPENED.match(masked.code, end)
    before = bytes(masked.code[max(0, at - LOOK_BACK) : at]).rstrip(b" \t\r\n\x01\x02\x03")
    if opened is None or (word not in BEGINS and before[-1:] not in BEFORE):
        return None
    if word in BEGINS:
        closed = masked.code.find(b")", opened.end(), opened.end() + LONGEST_TITLE)
        name = bytes(masked.code[opened.end() : max(closed, opened.end())]).decode("utf-8", "replace").strip()
        return Call(name, is_group=True, status=None, brace=None, made=False)
    plain, status = _plain(word)
    title, end, made = _title(masked, opened.end(), plain)
    block = BLOCK.match(masked.code, end)
    brace = block.end() - 1 if block is not None else None
    is_group, to_write = plain in GROUPS or plain in SHARED, NONE.match(masked.code, end) is not None
    return Call(title, is_group, status, brace, made, plain in SHARED, to_write)


def opening(code: bytearray, at: int) -> bool:
    """Whether a brace opens the block of an `if`."""
    return DECIDES.search(bytes(code[max(0, at - LOOK_BACK) : at])) is not None


def _plain(word: str) -> tuple[str, str | None]:
    """A word without its prefixes, and the status that these give."""
    word = word.removeprefix("qck_")
    if word == PENDING:
        return word, "skipped"
    status = PREFIXES.get(word[0]) if word[1:] in GROUPS or word[1:] in EXAMPLES else None
    return (word[1:] if status else word), status


def _title(masked: Masked, at: int, word: str) -> tuple[str, int, bool]:
    """The first argument, where it ends, and whether it is no literal.  word: the title where there is none."""
    parts, end = list[bytes](), at
    while (found := LITERAL.match(masked.source, end)) is not None and len(parts) < MOST_PARTS:
        parts.append(found[1])
        end = found.end()
    if parts and LAST.match(masked.code, end) is not None:
        text = b"".join(parts)[:LONGEST_TITLE].decode("utf-8", "replace")
        return ESCAPED.sub(lambda one: ESCAPES.get(one[1], one[1]), text), end, False
    made = MADE.match(masked.code, at)
    if made is None:
        return word, at, False
    return " ".join(text_of(masked.source, masked.code, made.span(1)).split()), made.end(1), True
