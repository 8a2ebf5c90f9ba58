"""Rust text inside macros as token trees: flat JSON that a macro can be matched against.

A token is a string: a name with its place as `line:column:name` (a bare name inside macro definitions), a
literal as `"` and the beginning of its text, or punctuation.  A group is a list that begins with its opening
bracket.  Bodies of functions and blocks of statements are left out: no test is declared in them.
"""

import re
from bisect import bisect_right
from typing import Final

from testlist.languages.rust.shape import Token, Tokens

TOKEN: Final = re.compile(
    r"""\s*+(?://[^\n]*|(?P<comment>/\*)|(?P<raw>b?c?r(?P<hashes>\#*)")|[bc]?"(?P<string>(?:[^"\\]|\\.)*)"
    |(?P<letter>b?'(?:[^'\\\n]|\\[^u\n]|\\u\{[0-9a-fA-F_]*\}|\\x..)')|(?P<lifetime>'\w+)
    |(?P<number>\d\w*(?:\.\d\w*)?)|(?P<name>(?:r\#)?[^\W\d]\w*)
    |(?P<bracket>[(){}\[\]])|(?P<punctuation>=>|::|->|\.\.=|\.\.\.|\.\.|&&|\|\||.))""",
    re.VERBOSE | re.DOTALL,
)
OPENING: Final = frozenset("([{")
#: kinds of tokens of which only the beginning is matched
UNREAD: Final = frozenset({"comment", "raw", "hashes"})
#: groups nested deeper are left empty, and a macro with more tokens is cut
DEPTH: Final = 32
MOST: Final = 60_000
#: letters of a literal that are kept: enough for a path
KEPT: Final = 120
#: names that show that a block in braces may declare something
STATING: Final = frozenset({"let", "return"})
DECLARING: Final = frozenset({"fn", "mod", "macro_rules", "test", "#"})


def read(source: str, first_line: int, first_column: int = 1, *, places: bool) -> Tokens:
    """Read the inside of a macro.  first_line: the line it begins on.  places: names carry their place."""
    lines = [match.end() for match in re.finditer("\n", source)]
    stack: list[Tokens] = [[]]
    position = count = 0
    while count < MOST and (found := TOKEN.match(source, position)) is not None:
        position, kind = found.end(), found.lastgroup
        if kind is None:
            continue
        count += 1
        if kind == "name":
            begin, piece = found.start(kind), found[kind].removeprefix("r#")
            if places:
                row = bisect_right(lines, begin)
                offset = begin - lines[row - 1] + 1 if row else begin + first_column
                piece = f"{first_line + row}:{offset}:{piece}"
            stack[-1].append(piece)
        elif kind == "bracket":
            _turn(stack, found[kind])
        elif kind in UNREAD:
            position = _beyond(source, found)
            stack[-1] += [] if kind == "comment" else ['"']
        else:
            stack[-1].append(_token(found, kind))
    while len(stack) > 1:
        _close(stack)
    return stack[0]


def _beyond(source: str, found: re.Match[str]) -> int:
    """End of a raw string or a comment; the end of the text for one that is not closed."""
    if found.lastgroup != "comment":
        end = source.find(f'"{found["hashes"]}', found.end())
        return len(source) if end < 0 else end + 1 + len(found["hashes"])
    depth, position = 1, found.end()
    for mark in re.compile(r"/\*|\*/").finditer(source, position):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    return len(source)


def _token(found: re.Match[str], kind: str) -> str:
    if kind in ("lifetime", "punctuation"):
        return found[kind]
    return f'"{found["string"][:KEPT]}' if kind == "string" else '"'


def _turn(stack: list[Tokens], bracket: str) -> None:
    """Open a group, or close the last one."""
    if bracket in OPENING:
        stack.append([bracket])
    elif len(stack) > 1:
        _close(stack)


def _close(stack: list[Tokens]) -> None:
    group = stack.pop()
    kept = group if len(stack) <= DEPTH and not _is_code(group) else group[:1]
    if group[0] == "{" and _follows_signature(stack[-1]):
        kept = ["{"]
    stack[-1].append(kept)


def _is_code(group: Tokens) -> bool:
    """Whether a group is a block of statements that declares nothing."""
    if group[0] != "{":
        return False
    names = {name_of(piece) for piece in group if isinstance(piece, str)}
    return not names.isdisjoint(STATING) and names.isdisjoint(DECLARING)


def _follows_signature(before: Tokens) -> bool:
    """Whether a block that comes next is the body of a function."""
    for piece in reversed(before[-60:]):
        if piece in (";", "=>") or (isinstance(piece, list) and piece[0] == "{"):
            return False
        if isinstance(piece, str) and name_of(piece) == "fn":
            return True
    return False


def name_of(piece: Token | None) -> str:
    """A token without its place; empty for a group."""
    if not isinstance(piece, str):
        return ""
    return piece.split(":", 2)[2] if piece[:1].isdigit() else piece


def place_of(piece: Token | None) -> tuple[int, int] | None:
    """Line and column of a name; None for tokens that carry none."""
    if not isinstance(piece, str) or not piece[:1].isdigit():
        return None
    row, column, _ = piece.split(":", 2)
    return int(row), int(column)


def is_name(piece: Token | None) -> bool:
    """Whether a token is an identifier or keyword."""
    return isinstance(piece, str) and (piece[:1].isdigit() or piece[:1] == "_" or piece[:1].isalpha())
