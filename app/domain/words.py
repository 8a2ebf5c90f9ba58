"""Numbers in sentences."""

from __future__ import annotations


def inflected(count: int, word: str, plural: str | None = None) -> str:
    """The form of the word after this number.  plural: of a word that does not only get an s."""
    return word if abs(count) == 1 else plural or f"{word}s"


def counted(count: int, word: str, plural: str | None = None) -> str:
    """A number with its word: 1 test, 2,000 tests."""
    return f"{count:,} {inflected(count, word, plural)}"
