"""Fragments of macro patterns: how many tokens an expression, a type or an item takes."""

from collections.abc import Callable
from typing import Final

from testlist.languages.rust.facts_tokens import is_name, name_of
from testlist.languages.rust.shape import Token, Tokens

#: tokens that end an expression; types and patterns end at more
ENDS: Final = {
    "expr": frozenset({",", ";", "=>"}),
    "expr_2021": frozenset({",", ";", "=>"}),
    "stmt": frozenset({",", ";", "=>"}),
    "ty": frozenset({",", ";", "=>", "=", "|", ":", "as", "where"}),
    "path": frozenset({",", ";", "=>", "=", "|", ":", "as", "where"}),
    "pat": frozenset({",", "=>", "=", "if", "in"}),
    "pat_param": frozenset({",", "=>", "=", "|", "if", "in"}),
}
#: words that an operand follows, and words that go on after one
LEADING: Final = frozenset(
    {"mut", "ref", "box", "dyn", "impl", "move", "async", "static", "unsafe", "return", "break", "yield", "if", "else",
     "match", "while", "for", "in", "loop", "let", "const", "as", "raw", "fn", "extern", "where"}
)  # fmt: skip
JOINING: Final = frozenset({"as", "else", "in", "if", "const", "mut", "where"})


def fragment(kind: str, given: Tokens, at: int) -> int | None:
    """End of the fragment of a kind that begins at a place; None if there is none."""
    if kind == "vis":
        return _visibility(given, at)
    if at >= len(given):
        return None
    if kind in SINGLE:
        return at + 1 if SINGLE[kind](given[at]) else None
    if kind in LONGER:
        return LONGER[kind](given, at)
    return _until(given, at, ENDS.get(kind, ENDS["expr"]), braces=kind in ("ty", "path"))


def _visibility(given: Tokens, at: int) -> int:
    if at < len(given) and name_of(given[at]) == "pub":
        scoped = at + 1 < len(given) and isinstance(given[at + 1], list) and given[at + 1][0] == "("
        return at + 2 if scoped else at + 1
    return at


def _literal(given: Tokens, at: int) -> int | None:
    if given[at] == "-":
        at += 1
    piece = given[at] if at < len(given) else ""
    fits = isinstance(piece, str) and (piece.startswith('"') or name_of(piece) in ("true", "false"))
    return at + 1 if fits else None


def _item(given: Tokens, at: int) -> int | None:
    for index in range(at, len(given)):
        piece = given[index]
        if piece == ";" or (isinstance(piece, list) and piece[0] == "{"):
            return index + 1
    return None


def _meta(given: Tokens, at: int) -> int | None:
    if not is_name(given[at]):
        return None
    end = at + 1
    while end + 1 < len(given) and given[end] == "::":
        end += 2
    if end < len(given) and isinstance(given[end], list):
        return end + 1
    return end + 2 if end < len(given) and given[end] == "=" else end


def _until(given: Tokens, at: int, ends: frozenset[str], *, braces: bool) -> int | None:
    """The first end that stands neither between `<` and `>` of a type nor between the bars of a closure."""
    index, angles = _closure(given, at), 0
    while index < len(given):
        piece = given[index]
        if isinstance(piece, list):
            if braces and piece[0] == "{":
                break
        elif piece == "<" and (braces or given[index - 1] == "::"):
            angles += 1
        elif piece == ">" and angles:
            angles -= 1
        elif not angles and (name_of(piece) in ends or (index > at and not braces and _begins_anew(given, index))):
            break
        index += 1
    return index if index > at else None


def _begins_anew(given: Tokens, index: int) -> bool:
    """Whether one operand stands directly behind another: no expression goes on like that."""
    piece, before = given[index], given[index - 1]
    if isinstance(piece, list) or not (is_name(piece) or piece.startswith('"')) or name_of(piece) in JOINING:
        return False
    if isinstance(before, list):
        return not (before[0] == "[" and index > 1 and given[index - 2] == "#")
    return before.startswith('"') or (is_name(before) and name_of(before) not in LEADING)


def _closure(given: Tokens, at: int) -> int:
    """Step over `move |a, b|`."""
    start = at
    while start < len(given) and name_of(given[start]) in ("move", "async", "static"):
        start += 1
    if start < len(given) and given[start] == "|":
        for index in range(start + 1, len(given)):
            if given[index] == "|":
                return index + 1
    return at


SINGLE: Final[dict[str, Callable[[Token], bool]]] = {
    "tt": lambda piece: True,  # noqa: ARG005 - one token of any kind
    "ident": is_name,
    "lifetime": lambda piece: name_of(piece).startswith("'"),
    "block": lambda piece: isinstance(piece, list) and piece[0] == "{",
}
LONGER: Final[dict[str, Callable[[Tokens, int], int | None]]] = {"literal": _literal, "item": _item, "meta": _meta}
