"""What turns tests into a specification: the built-in generator, or a model with it as a net (docs/adr/0047)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.specification import Place, Specification, Subject


@dataclass(frozen=True, slots=True)
class Placed:
    """A part of the tests with their places.  fell_back: by the built-in generator, as the model failed here."""

    places: Sequence[tuple[Subject, Place]]
    fell_back: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Tests of one place that need sentences."""

    place: Place
    subjects: Sequence[Subject]


@dataclass(frozen=True, slots=True)
class Phrased:
    """A part of the tests with their sentences.  fell_back: as of Placed."""

    sentences: Sequence[tuple[Subject, str]]
    fell_back: bool = False


class Generator(Protocol):
    """Every subject that is given comes back exactly once, in parts as they are done, in any order.

    While it waits for somebody, a part without a subject comes at least once a second, so that a caller can stop it.

    A part that comes back is kept at once, so a run that is cut off asks for none of it again.  An iterator that is
    closed before its end stops what it has under way.
    """

    @property
    def name(self) -> str:
        """Who wrote it, and by which rules: a part of every cache key.  Changes when its sentences would."""

    def place(self, subjects: Sequence[Subject], known: Sequence[Place], language: str) -> Iterator[Placed]:
        """Group tests.  known: places that the document has already, most used first; they are taken where they fit."""

    def phrase(self, parts: Iterable[Part], language: str) -> Iterator[Phrased]:
        """A sentence for each test."""

    def summarise(self, specification: Specification) -> Iterator[str]:
        """Last two or three sentences about the whole, empty where none can be made; before that nothing, as above."""
