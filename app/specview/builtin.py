"""The built-in generator: offline, by rules, the same document for the same tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from app.domain.specification import BUILT_IN, LANGUAGES, Place, Specification, Subject
from app.specview import english, korean, places, summaries
from app.specview.generator import Generator, Part, Phrased, Placed
from app.specview.titles import title_of

#: Sentences of one part: what keeps them has a commit for each.
AT_ONCE = 500
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
        sentences = ((subject, say(title_of(subject))) for part in parts for subject in part.subjects)
        while some := list(islice(sentences, AT_ONCE)):
            yield Phrased(some)

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
