"""Tokens read as items: attributes, names, and where an item ends."""

from typing import Final, TypeGuard

from testlist.languages.rust.facts_tokens import is_name, name_of
from testlist.languages.rust.shape import Attribute, Token, Tokens

#: items that hold no tests, whatever stands in their braces
CLOSED: Final = frozenset({"fn", "impl", "trait", "struct", "enum", "union", "macro_rules"})


def attribute(group: Tokens) -> Attribute:
    """`[a::b(c)]` as path and tokens."""
    end = 1
    while end < len(group) and (is_name(group[end]) or group[end] == "::"):
        end += 1
    return "".join(map(name_of, group[1:end])), group[end:]


def at(tokens: Tokens, index: int) -> Token | None:
    """A token, or None beyond the end."""
    return tokens[index] if index < len(tokens) else None


def is_block(piece: Token | None) -> TypeGuard[Tokens]:
    """Whether a token is a group in braces."""
    return isinstance(piece, list) and piece[0] == "{"


def length(tokens: Tokens, index: int) -> int:
    """Tokens that an item which begins at a place takes, as far as it is understood."""
    word = name_of(tokens[index])
    if word in CLOSED:
        return beyond(tokens, index) - index
    if word == "mod" or (at(tokens, index + 1) == "!" and is_name(tokens[index])):
        return 3
    return 1


def beyond(tokens: Tokens, index: int) -> int:
    """Where an item that begins at a place ends: after its braces or its semicolon."""
    for end in range(index + 1, len(tokens)):
        piece = tokens[end]
        if piece == ";" or is_block(piece):
            return end + 1
    return len(tokens)


def rules(group: Token | None) -> list[list[Tokens]]:
    """Rules of a macro defined by another macro: `pattern => body;` as pairs."""
    tokens = group[1:] if isinstance(group, list) else []
    arrows = [index for index, piece in enumerate(tokens) if piece == "=>" and 0 < index < len(tokens) - 1]
    return [[[tokens[index - 1]], [tokens[index + 1]]] for index in arrows]


def spelled(piece: Token | None) -> str:
    """A name, also one that is pasted together as `[<a $b>]`."""
    if not isinstance(piece, list):
        return name_of(piece)
    parts: list[str] = []
    for index, part in enumerate(piece):
        word = name_of(part).strip('"')
        if index and piece[index - 1] == ":" and parts:
            parts[-1] = cased(parts[-1], word)
        elif word not in ("<", ">", ":", "[", "#"):
            parts.append(word)
    return "".join(parts)


def pasted(tokens: Tokens) -> Tokens:
    """Tokens with every `[<a $b>]` in them made one name."""
    return [spelled(one) if is_pasted(one) else pasted(one) if isinstance(one, list) else one for one in tokens]


def is_pasted(piece: Token) -> bool:
    """Whether a token is a group `[<...>]`."""
    return isinstance(piece, list) and piece[:2] == ["[", "<"] and piece[-1] == ">"


def cased(word: str, how: str) -> str:
    """Change letters as `:lower` and its kin of paste do."""
    if how in ("lower", "upper"):
        return word.lower() if how == "lower" else word.upper()
    if how == "snake":
        return "".join(f"_{char.lower()}" if char.isupper() and at else char.lower() for at, char in enumerate(word))
    return word
