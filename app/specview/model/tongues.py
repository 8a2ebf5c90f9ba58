"""Languages that a model is asked to write, with the script that its answers must be in."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

LATIN = ("LATIN",)
CYRILLIC = ("CYRILLIC",)


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language that a model writes.

    name: in English, for the model; scripts: how Unicode names its letters begin.
    """

    name: str
    scripts: tuple[str, ...] = LATIN


TONGUES = {
    "ar": Tongue("Arabic", ("ARABIC",)),
    "cs": Tongue("Czech"),
    "da": Tongue("Danish"),
    "de": Tongue("German"),
    "el": Tongue("Greek", ("GREEK",)),
    "en": Tongue("English"),
    "es": Tongue("Spanish"),
    "fi": Tongue("Finnish"),
    "fr": Tongue("French"),
    "hi": Tongue("Hindi", ("DEVANAGARI",)),
    "id": Tongue("Indonesian"),
    "it": Tongue("Italian"),
    "ja": Tongue("Japanese", ("HIRAGANA", "KATAKANA", "CJK")),
    "ko": Tongue("Korean", ("HANGUL",)),
    "nl": Tongue("Dutch"),
    "pl": Tongue("Polish"),
    "pt": Tongue("Portuguese"),
    "ru": Tongue("Russian", CYRILLIC),
    "sv": Tongue("Swedish"),
    "th": Tongue("Thai", ("THAI",)),
    "tr": Tongue("Turkish"),
    "uk": Tongue("Ukrainian", CYRILLIC),
    "vi": Tongue("Vietnamese"),
    "zh": Tongue("Chinese", ("CJK",)),
}
#: Share of the letters that are of the language's script.
OWN_LETTERS = 0.8
#: English words that no sentence of another language has twice.
_ENGLISH = frozenset({"the", "when", "with", "that", "and", "returns", "should"})


def tongue_of(language: str) -> Tongue:
    """The tongue of a code; an unknown code is sent to the model as it is, and may be in any script."""
    return TONGUES.get(language.lower().split("-")[0], Tongue(language, ()))


def is_latin(language: str) -> bool:
    """Whether the language is written in Latin letters."""
    return tongue_of(language).scripts == LATIN


def touches(text: str, language: str) -> bool:
    """Whether a text has a letter of the language's script."""
    scripts = tongue_of(language).scripts
    return not scripts or any(_is_of(char, scripts) for char in text if char.isalpha())


def in_tongue(words: Iterable[str], language: str) -> bool:
    """Whether words that are not from the test itself can be of the language; True without any."""
    spoken = list(words)
    tongue = tongue_of(language)
    letters = [char for word in spoken for char in word if char.isalpha()]
    if tongue.scripts and sum(_is_of(char, tongue.scripts) for char in letters) < OWN_LETTERS * len(letters):
        return False
    return tongue.scripts != LATIN or tongue.name == "English" or sum(word in _ENGLISH for word in spoken) < 2


def _is_of(char: str, scripts: tuple[str, ...]) -> bool:
    return unicodedata.name(char, "").startswith(scripts)
