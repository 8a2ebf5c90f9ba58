"""Words of names and sentences, so that the two can be compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import PurePosixPath

from app.domain.specification import Subject

_EASTERN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
#: Where a word ends without a space: camel case, digits, and an ending of an Eastern language after a Latin word.
_CAMEL = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
    rf"|(?<=[A-Za-z])(?=[{_EASTERN}])|(?<=[{_EASTERN}])(?=[A-Za-z])"
)
_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
#: Of the format category, what scripts need inside of words.
_JOINERS = "\u200c\u200d"
#: Two words that begin with this many equal letters are forms of one: fails, failed, failure.
STEM = 4


def clean(text: str, longest: int) -> str:
    """One line without control, format and private signs, cut to a length in characters."""
    if text.isascii() and text.isprintable():
        return _SPACE.sub(" ", text).strip()[:longest].strip()
    kept = "".join(
        " " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char
        for char in text[: 4 * longest]
        if unicodedata.category(char) not in {"Cf", "Co", "Cs", "Cn"} or char in _JOINERS
    )
    return _SPACE.sub(" ", unicodedata.normalize("NFC", kept)).strip()[:longest].strip()


def words_of(text: str) -> list[str]:
    """Words of a name in any style or of a sentence, in lower case; numbers are words."""
    return [word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", unicodedata.normalize("NFKC", text)))]


@lru_cache(maxsize=4096)
def evidence(subject: Subject) -> frozenset[str]:
    """All words that a sentence about this test may be made of."""
    path = PurePosixPath(subject.file)
    return frozenset(words_of(" ".join([subject.name, *subject.suites, *path.parts[-3:-1], path.name])))


def akin(word: str, others: frozenset[str]) -> bool:
    """Whether a word or another form of it is among others."""
    if word in others:
        return True
    stem = word[:STEM]
    return len(stem) == STEM and any(other.startswith(stem) for other in others)
