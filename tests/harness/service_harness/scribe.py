"""A generator of specifications that a test can make fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from app.domain.specification import Place, Specification, Subject
from app.specview.generator import Part, Phrased, Placed


class Struck(Exception):  # noqa: N818 - a test's
    """What the generator raises where a test says so."""


@dataclass
class Scribe:
    """One domain a file, one feature a suite.  told: what it was asked for; falls_back: names it cannot write.

    take: what tells its words from those of another one; summarised: how often it was asked about the whole.
    """

    name: str = "built-in 1"
    falls_back: frozenset[str] = frozenset()
    strikes_at: int | None = None
    take: int = 0
    summarised: int = 0
    placed: list[str] = field(default_factory=list)
    phrased: list[str] = field(default_factory=list)

    def place(self, subjects: Sequence[Subject], known: Sequence[Place], language: str) -> Iterator[Placed]:
        for subject in subjects:
            self.placed.append(subject.name)
            yield Placed([(subject, Place(subject.file, subject.suites[0] if subject.suites else ""))])

    def phrase(self, parts: Iterable[Part], language: str) -> Iterator[Phrased]:
        for part in parts:
            for subject in part.subjects:
                if self.strikes_at is not None and len(self.phrased) >= self.strikes_at:
                    raise Struck
                self.phrased.append(subject.name)
                yield Phrased(
                    [(subject, f"Says {subject.name}{', again' * self.take}.")], subject.name in self.falls_back
                )

    def summarise(self, specification: Specification) -> Iterator[str]:
        self.summarised += 1
        yield f"{len(specification.domains)} domains."
