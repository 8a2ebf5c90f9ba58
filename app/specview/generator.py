"""The interface of generators: the built-in one, or a model that falls back to it (docs/adr/0047)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.specification import Place, Specification, Subject


@dataclass(frozen=True, slots=True)
class Placed:
    """Some of the tests with their places.  fell_back: the model failed, so the built-in generator chose them."""

    places: Sequence[tuple[Subject, Place]]
    fell_back: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Tests of one place that need sentences."""

    place: Place
    subjects: Sequence[Subject]


@dataclass(frozen=True, slots=True)
class Phrased:
    """Some of the tests with their sentences.  fell_back: as of Placed."""

    sentences: Sequence[tuple[Subject, str]]
    fell_back: bool = False


class Generator(Protocol):
    """A generator returns every given subject exactly once, in parts as they are done, in any order.

    While it waits for a model, an empty part comes at least once a second, so that the caller can stop it.

    Each part is stored at once, so a run that is interrupted does not request any of it again.  Closing an iterator
    before its end stops its work under way.
    """

    @property
    def name(self) -> str:
        """The generator's name and version: a part of every cache key.  It changes whenever the sentences would."""

    def place(self, subjects: Sequence[Subject], known: Sequence[Place], language: str) -> Iterator[Placed]:
        """Group tests.  known: places that the document has already, most used first; they are used where they fit."""

    def phrase(self, parts: Iterable[Part], language: str) -> Iterator[Phrased]:
        """Write a sentence for each test."""

    def summarise(self, specification: Specification) -> Iterator[str]:
        """The last item is two or three sentences about the whole, or empty; before it, empty items as above."""
