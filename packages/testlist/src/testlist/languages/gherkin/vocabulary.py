"""The words of Gherkin in each spoken language: a table of facts, which begins with the tag of the language."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

#: language -> kind of a line -> words that it begins with; titles end with a colon, steps do not
WORDS: Final[dict[str, dict[str, list[str]]]] = json.loads(
    Path(__file__).with_name("vocabulary.json").read_text(encoding="utf-8")
)
#: the language of a file that names none
DEFAULT: Final = "en"
STEP: Final = "step"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One language.  titles: word -> kind of the line; steps: how the lines of a scenario begin."""

    titles: dict[str, str]
    steps: tuple[str, ...]

    def title(self, line: str) -> tuple[str, str]:
        """The kind of a line and the text behind its colon; the kind is empty if it is no title.

        No word has a colon in it.
        """
        word, colon, rest = line.partition(":")
        return (self.titles.get(word, ""), rest.strip()) if colon else ("", "")


@cache
def dialect(language: str) -> Dialect:
    """A language by its tag, in .NET with a region (`de-DE`); English for one that is not known."""
    words = WORDS.get(language) or WORDS.get(language.partition("-")[0], WORDS[DEFAULT])
    titles = {word: kind for kind, some in words.items() if kind != STEP for word in some}
    return Dialect(titles, tuple(words[STEP]))


#: word for a feature -> the first language that has it
FEATURES: Final = {word: tag for tag in sorted(WORDS, reverse=True) for word in WORDS[tag]["feature"]}


def language_of_title(line: str) -> str:
    """The language in which a line is the title of a feature, or an empty text.

    A runner may be configured to another language than English, and then its files name none.
    """
    word, colon, _ = line.partition(":")
    return FEATURES.get(word, "") if colon else ""
