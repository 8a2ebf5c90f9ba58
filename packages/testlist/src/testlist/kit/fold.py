"""Hits by definition: a test that several classes or files share counts once, where it is defined."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Hit = TypeVar("Hit")


def folded(hits: Iterable[Hit], place: Callable[[Hit], Hashable]) -> list[list[Hit]]:
    """The hits of each definition, in the order in which definitions were first met.  place: identifies one."""
    found: dict[Hashable, list[Hit]] = {}
    for hit in hits:
        found.setdefault(place(hit), []).append(hit)
    return list(found.values())
