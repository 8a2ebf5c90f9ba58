"""The class of a word as a letter, so that the shape of a name is a pattern of letters; see `labels`."""

from __future__ import annotations

import re
from functools import lru_cache

from app.specview.acronyms import ACRONYMS
from app.specview.forms import base_of_gerund, base_of_third, is_manner, is_participle, is_plural
from app.specview.lexicon import (
    ADJECTIVES,
    ADVERBS,
    AUXILIARIES,
    BE,
    DETERMINERS,
    MODALS,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
    UNCOUNTED,
)
from app.specview.listed import listed
from app.specview.things import is_noun
from app.specview.verbs import MOSTLY_VERBS, NOUNS_FIRST, NOUNS_TOO, VERBS
from app.specview.words import is_code, is_numbered

#: before a word that they belong to: `non-matching`
PREFIXES = listed("non multi")
#: after a word that they belong to: `class-based`
SUFFIXES = listed("based sensitive insensitive like aware")
#: what each letter stands for, the first one that fits
_CLOSED: dict[str, frozenset[str]] = {
    "O": listed("no"),
    "E": listed("not"),
    "U": listed("none null nil undefined true false zero nan infinity"),  # values
    "J": listed("boolean double long short float"),  # types
    "H": listed("args kwargs opts params options settings headers bytes data media criteria"),  # before a noun as well
    "L": listed("up down out off over back away"),
    "A": ADJECTIVES | listed("first last own"),
    "D": DETERMINERS | listed("more less most fewer"),
    "R": PREPOSITIONS,
    "C": listed("and or vs &"),
    "S": listed("equals"),
    "M": listed("very"),
    "Z": MODALS | BE | AUXILIARIES | PRONOUNS | SUBORDINATORS | ADVERBS | listed("be but nor been"),
}
_LETTERS = {word: letter for letter, words in reversed(_CLOSED.items()) for word in words}
#: types of a size: i8, u64, rfc2231
_SIZED = re.compile(r"[iuf](?:8|16|32|64|128)|(?:rfc|arc|v)[0-9]+")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_HYPHENATED = re.compile(r"[a-z]+(?:-[a-z]+)+")
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:able|ible|ive|ful|less|ous|ical)")
_SIGNS = re.compile(r"[^\w`\"']+|.*\$\{.*|\(.*|.*[.,;!?]|.*[^(]\)|")


@lru_cache(16_384)
def class_of(word: str) -> str:
    """The letter of a word.

    A adjective, B noun or verb, C "and", D determiner, E "not", G gerund, H plural that may stand before a
    noun, I numbered, J type of a value, K noun or verb that opens a row, L particle, M adverb in -ly, N noun, O "no", P
    participle, Q plural, R preposition, S verb in -s, T plural or verb in -s, U value such as null, V verb, W
    noun by its place alone, X code, Y verb or noun, Z any other.
    """
    return _LETTERS.get(word) or next(letter for letter, fits in _OPEN if fits(word))


def _is_qualified(word: str) -> bool:
    return "-" in word and (word.partition("-")[0] in PREFIXES or word.rpartition("-")[2] in SUFFIXES)


def _of_verb(word: str) -> str:
    if word in NOUNS_TOO and word not in NOUNS_FIRST:
        return "Y" if word in MOSTLY_VERBS else "B"
    return "V" if word in VERBS and word not in NOUNS_FIRST and not is_noun(word) else ""


def _is_strange(word: str) -> bool:
    """Whether an unknown word is too short to classify, or contains anything but lower-case letters."""
    return not (word.isalpha() and word.islower() and len(word) > 3 and re.search("[aeiouy]", word))


_OPEN = (
    ("M", is_manner),
    ("Z", lambda word: _SIGNS.fullmatch(word) is not None),
    ("A", _is_qualified),
    ("N", lambda word: word.lower() in ACRONYMS or word in UNCOUNTED),
    ("K", lambda word: word in NOUNS_FIRST),
    ("V", lambda word: _of_verb(word) == "V"),
    ("B", lambda word: _of_verb(word) == "B"),
    ("Y", lambda word: _of_verb(word) == "Y"),
    ("P", is_participle),
    ("G", lambda word: base_of_gerund(word) is not None),
    ("T", lambda word: base_of_third(word) in NOUNS_TOO),
    ("Q", lambda word: is_plural(word) and is_noun(word)),
    ("N", is_noun),
    ("S", lambda word: base_of_third(word) is not None),
    ("I", lambda word: is_numbered(word) and not _SIZED.fullmatch(word)),
    ("X", lambda word: _CAPITAL.fullmatch(word) is not None),
    ("N", lambda word: _HYPHENATED.fullmatch(word) is not None and class_of(word.rpartition("-")[2]) in "NB"),
    ("Q", lambda word: _HYPHENATED.fullmatch(word) is not None and class_of(word.rpartition("-")[2]) == "Q"),
    ("A", lambda word: _HYPHENATED.fullmatch(word) is not None and class_of(word.rpartition("-")[2]) == "P"),
    ("X", lambda word: is_code(word) and not _HYPHENATED.fullmatch(word)),
    ("Z", _is_strange),
    ("A", lambda word: _ADJECTIVE.fullmatch(word) is not None),
    ("G", lambda word: word.endswith("ing")),
    ("W", lambda _: True),
)
