"""The built-in generator: offline, by rules, the same document for the same tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.domain.specification import BUILT_IN, LANGUAGES, Place, Specification, Subject
from app.services.generator import Generator, Part, Phrased, Placed
from tasks.specview import english, korean, places, summaries
from tasks.specview.titles import title_of

_SENTENCES = {"en": english.sentence, "ko": korean.sentence}


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A Generator that needs nothing but the names.  It keeps no state, so threads may share it."""

    name: str = BUILT_IN

    def place(self, subjects: Sequence[Subject], known: Sequence[Place], language: str) -> Iterator[Placed]:
        """Group tests by their paths and suites, each by its own alone; see `places`."""
        _check(language)
        yield Placed(places.placed(subjects, known, language))

    def phrase(self, parts: Iterable[Part], language: str) -> Iterator[Phrased]:
        """A sentence for each test.  Raises: ValueError for a language other than LANGUAGES."""
        _check(language)
        say = _SENTENCES[language]
        for part in parts:
            yield Phrased([(subject, say(title_of(subject))) for subject in part.subjects])

    def summarise(self, specification: Specification) -> Iterator[str]:
        """Name the largest domains."""
        _check(specification.language)
        yield summaries.summary(specification)


def built_in() -> Generator:
    """The generator that is there without any settings."""
    return BuiltIn()


def _check(language: str) -> None:
    if language not in LANGUAGES:
        supported = ", ".join(f"{code} ({name})" for code, name in LANGUAGES.items())
        raise ValueError(f"the built-in generator does not write {language!r}; it writes {supported}")
