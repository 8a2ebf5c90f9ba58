"""Text of strangers, made safe to look at: what cannot be seen, or turns a line around, shows as its code point."""

from __future__ import annotations

import unicodedata

#: Joins emoji and letters of some scripts; hides nothing by itself.
_JOINER = "\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def visible(text: str, *, keep: str = "") -> str:
    """Controls, bidi marks, zero-width and private characters as [U+202E].  keep: characters to leave as they are."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"[U+{ord(c):04X}]" if _is_hidden(c) and c not in keep else c for c in text)


def _is_hidden(character: str) -> bool:
    code = ord(character)
    # no characters, for good: XML knows no way to write U+FFFE and U+FFFF
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return True
    return character != _JOINER and unicodedata.category(character) in _HIDDEN
