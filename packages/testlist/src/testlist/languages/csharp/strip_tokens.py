"""Tokens of C# that separate brackets from comments and strings, and blanks that keep every byte's place."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

#: comments in lines of their own are one
COMMENT: Final = rb"(?P<comment>//[^\n]*+(?:\n\s*+//[^\n]*+)*|/\*[\s\S]*?(?:\*/|\Z))"
#: interpolated strings are read step by step, for their holes hold code
INTERPOLATED: Final = rb'(?P<interpolated>\${1,8}+"{3,16}+|\$"|\$@"|@\$")'
#: raw, verbatim and plain strings, characters.  More quotes than sixteen are no raw string: the search stays linear
TEXT: Final = (
    rb'(?P<text>(?P<raw>"{3,16}+)[\s\S]*?(?:(?P=raw)|\Z)|@"[^"]*+(?:""[^"]*+)*+"?'
    rb"""|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)"""
)
#: where a comment or a string may begin
OPENING: Final = rb"\"'/@$"
BLANKS: Final = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


def pattern(signs: bytes, signed: bytes) -> re.Pattern[bytes]:
    """One token after whatever is none.  signs: bytes a sign may begin with; signed: pattern of signs."""
    token = b"|".join((COMMENT, INTERPOLATED, TEXT, b"(?P<sign>" + signed + b")", rb"[\s\S]", rb"\Z"))
    return re.compile(b"[^" + signs + OPENING + b"]*+(?:" + token + b")")


BRACES: Final = pattern(rb"{}", rb"[{}]")
#: text of an interpolated string up to its next hole or its end
PLAIN: Final = re.compile(rb'(?:[^"\\{\n]|\\.|\{\{)*+(?:(?P<hole>\{)|[\s\S]|\Z)')
VERBATIM: Final = re.compile(rb'(?:[^"{]|""|\{\{)*+(?:(?P<hole>\{)|[\s\S]|\Z)')


@cache
def _raw(signs: int, quotes: int) -> re.Pattern[bytes]:
    """Strip a raw string: as many braces open a hole as it has signs in front, as many quotes end it."""
    hole, end = rb"\{{%d}" % signs, rb'"{%d}' % quotes
    return re.compile(
        rb'(?:[^"{]++|(?!' + end + rb')"|(?!' + hole + rb")\{)*(?:(?P<hole>" + hole + rb"\{*+)|" + end + rb'"*+|\Z)'
    )


def tokens(kind: re.Pattern[bytes], source: bytes, position: int = 0) -> Iterator[re.Match[bytes]]:
    """Tokens from a position on: group `sign` of each is what the pattern was made for."""
    while position < len(source) and (token := kind.match(source, position)):
        position = token.end()
        if token.lastgroup == "interpolated":
            position = _interpolated(source, token)
        else:
            yield token


def _interpolated(source: bytes, opening: re.Match[bytes]) -> int:
    """Where an interpolated string ends, whatever strings its holes hold."""
    position, texts, depths = opening.end(), [_text(opening)], [0]
    while texts:
        token = (BRACES if depths[-1] else texts[-1]).match(source, position)
        if token is None or position >= len(source):
            return len(source)
        position = token.end()
        if not depths[-1]:
            if token["hole"]:
                depths[-1] = 1
            else:
                del texts[-1], depths[-1]
        elif token.lastgroup == "interpolated":
            texts.append(_text(token))
            depths.append(0)
        elif token["sign"] is not None:
            depths[-1] += 1 if token["sign"] == b"{" else -1
    return position


def _text(opening: re.Match[bytes]) -> re.Pattern[bytes]:
    sign = opening["interpolated"]
    if sign.endswith(b'"""'):
        return _raw(sign.count(b"$"), sign.count(b'"'))
    return VERBATIM if b"@" in sign else PLAIN


def blank(kept: bytearray, start: int, stop: int) -> None:
    """Blank out a stretch, but not its line ends."""
    kept[start:stop] = kept[start:stop].translate(BLANKS)
