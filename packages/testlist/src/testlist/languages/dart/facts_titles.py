"""Literal texts of Dart: with `'`, `"` or three of them, raw or not, one after the other."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

LITERAL: Final = re.compile(
    r"\s*+(?:(?P<raw>r)?(?:'''(?P<a>[^'\\]*+(?:(?:\\[\s\S]|'(?!''))[^'\\]*+)*)'''"
    r'|"""(?P<b>[^"\\]*+(?:(?:\\[\s\S]|"(?!""))[^"\\]*+)*)"""'
    r"|'(?P<c>[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*)'"
    r'|"(?P<d>[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*)"))'
)
ESCAPE: Final = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S])")
ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v"}
LONGEST: Final = 1_000


def written(node: Node, source: bytes, most: int) -> str:
    """The beginning of the source of a node: one in another would have all of it again."""
    return source[node.start_byte : min(node.end_byte, node.start_byte + most)].decode("utf-8", "replace")


def title_of(node: Node, source: bytes) -> tuple[str, bool]:
    """The value of a text, or the source of another expression, and whether it is made when it runs."""
    raw = written(node, source, 2 * LONGEST)
    if node.type != "string_literal":
        return " ".join(raw.split())[:LONGEST], True
    if any(child.type == "template_substitution" for child in node.named_children):
        plain = LITERAL.fullmatch(raw)
        return (raw[1:-1] if plain is None else _inside(plain))[:LONGEST], True
    parts, at = list[str](), 0
    while (found := LITERAL.match(raw, at)) is not None:
        parts.append(_inside(found) if found["raw"] else ESCAPE.sub(_escaped, _inside(found)))
        at = found.end()
    return "".join(parts)[:LONGEST] if parts else raw[:LONGEST], False


def uri_of(node: Node, source: bytes) -> Iterator[str]:
    """What an import names."""
    for child in node.named_children:
        if child.type == "string_literal":
            yield title_of(child, source)[0]


def _inside(found: re.Match[str]) -> str:
    return next(one for name in "abcd" if (one := found[name]) is not None)


def _escaped(found: re.Match[str]) -> str:
    sign = found[1]
    if len(sign) == 1:
        return ESCAPES.get(sign, sign)
    number = int(sign[1:].strip("{}"), 16)
    return chr(number) if number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else found[0]
