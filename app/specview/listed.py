"""Lists of words, written as people read them."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    """The words of a text, separated by blanks."""
    return frozenset(words.split())
