"""Make strangers' text safe to look at: characters that are invisible, or reverse a line, show as their code point."""

from __future__ import annotations

import re
import unicodedata

#: Joins emoji and letters of some scripts; by itself it hides nothing.
_JOINER = "\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# of Markdown, in addition to CommonMark's: GitHub's @names, formulas and bare addresses
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&@$]|:(?=//))")


def visible(text: str, *, keep: str = "") -> str:
    """Show controls, bidi marks, zero-width and private characters as [U+202E].  keep: those to leave unchanged."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"[U+{ord(c):04X}]" if _is_hidden(c) and c not in keep else c for c in text)


def quoted(text: str) -> str:
    """Write it in Markdown on one line, so that none of its characters has a special meaning."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def _is_hidden(character: str) -> bool:
    code = ord(character)
    # permanently not characters: XML cannot represent U+FFFE and U+FFFF
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return True
    return character != _JOINER and unicodedata.category(character) in _HIDDEN
