"""A name that states nothing as a label: its own words in their order, parted by a colon where a case follows.

A label is written as headings are: without articles, and it claims no outcome.  So it fits a name of two readings:
`Move transform.` is the words of `test_move_transform`, whether that is an act or a thing.  Each word gets a letter of
its class, and the letters must have the shape of a label; words of other shapes are left to be quoted.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tasks.specview import phrases
from tasks.specview.classes import PREFIXES, SUFFIXES, class_of
from tasks.specview.lexicon import SUBORDINATORS
from tasks.specview.listed import listed
from tasks.specview.words import is_numbered, split_identifier

_BEFORE = "D?U?(?:M?[AP]){0,2}"
_ROW = "[NHWXGBYU]{0,3}"
_NOUN = f"(?:{_BEFORE}(?:[AP]W|{_ROW}(?:[NHQXBY]|QN)|[NHXBY]{{1,3}}G|W)|U)"
_ONE = f"(?!Y[APUO]){_BEFORE}[NWXGBY]{{0,2}}[NXBY]"
_MANY = f"{_BEFORE}[NWXGBY]{{0,2}}[HQ]"
_NONE = f"O?{_NOUN}"
_MORE = f"(?:L?R{_NONE}|RG{_NOUN}?|C{_NOUN}|PR{_NONE}|(?<!^)G{_NOUN})*M?"
_OBJECT = f"(?:D?U?(?:M?[AP])?(?:{_ROW}(?:[NHQXBY]|QN)|W)|U)"
_CASE = f"[AP]{_NOUN}{_MORE}|O{_NOUN}{_MORE}|A|U|A?R{_NOUN}"
_SHAPES = re.compile(
    f"{_NONE}E?P?{_MORE}"  # cookie jar; dotted name not allowed; response without body
    f"|[VY](?:C[VY])?L?{_OBJECT}?{_MORE}"  # get key; open and close file
    f"|G{_NOUN}?{_MORE}|R{_NONE}{_MORE}|RG{_NOUN}?{_MORE}"  # parsing headers; without session; before closing
    f"|{_MANY}V{_NOUN}{_MORE}"  # headers preserve order
    f"|(?:{_ONE}|{_MANY}|V{_OBJECT})(?P<case>{_CASE})"  # flag: invalid input; guess filename: valid
    f"|{_ONE}(?P<act>V{_OBJECT}{_MORE})"  # context: get header
    f"|[VBY](?P<none>O{_NOUN})"  # abort: no app
)
#: two words that may both be verbs, and a word in no list beside one
_UNSURE = re.compile("[BY][NQ]?[BY]|^VY$|W[BY]|[BY]W")
#: adjectives that are said of no case
_NO_CASE = listed("various final static constant first last")
#: more words are a sentence without its verb
_LONGEST = 10


def label(words: list[str], *, identifier: bool) -> str | None:
    """The words as a label; nothing where they have the shape of none.  identifier: of a function, not a title."""
    number = ""
    if identifier:
        words, number = _numbered(words)
        words = _joined(words)
    told = [_part(part, identifier=identifier) for part in _parts(words)]
    if not all(told):
        return None
    said = ": ".join(part for part in told if part) + (f" ({number})" if number else "")
    if len(words) == 1 and class_of(words[0]) == "A" and words[0] not in _NO_CASE:
        return said if "case" in said else f"{said} case"
    return said[:1].upper() + said[1:] if said.partition("-")[0] in PREFIXES else said


def segmented(text: str) -> str | None:
    """`ExactArgs_WithNoArgs_Twice`: what is tested, and the cases of it; nothing for names in one style."""
    segments = text.split("_")
    if len(segments) < 2 or not all(re.fullmatch("[A-Za-z]*[a-z][A-Za-z0-9]*", segment) for segment in segments):
        return None
    if not any(re.search("[a-z][A-Z]", segment) for segment in segments):
        return None
    told = [label(split_identifier(segment), identifier=True) for segment in segments]
    if any(part is None or ": " in part for part in told):
        return None
    return f"{told[0]}: {', '.join(part for part in told[1:] if part)}"


def _part(words: list[str], *, identifier: bool) -> str | None:
    if not words or len(words) > _LONGEST:
        return None
    letters = "".join(class_of(word) for word in words)
    if (at := _shape(letters)) is not None:
        return " ".join(words) if not at else f"{' '.join(words[:at])}: {' '.join(words[at:])}"
    if identifier and is_numbered(words[0]) and len(words) > 1:  # the number of an issue, and what it was about
        rest = _part(words[1:], identifier=True)
        return rest and f"`{words[0]}`: {rest}"
    return _conditional(words, letters)


def _conditional(words: list[str], letters: str) -> str | None:
    """`stop when disabled`: a label with a condition after it."""
    for at, word in enumerate(words[:-1]):
        if at and word in SUBORDINATORS:
            read = phrases.condition(words, at)
            return f"{' '.join(words[:at])} {read.text}" if read and _shape(letters[:at]) == 0 else None
    return None


@lru_cache(16_384)
def _shape(letters: str) -> int | None:
    """Where a colon belongs, 0 for nowhere; nothing where the letters are those of no label."""
    if letters == "A":
        return 0
    if len(letters) == 1 and letters not in "NHQBYVG":
        return None
    if letters.count("W") > 1 or set(letters) <= set("XDRWU") or _UNSURE.search(letters):
        return None
    found = _SHAPES.fullmatch(letters)
    return found and max(found.start("case"), found.start("act"), found.start("none"), 0)


def _joined(words: list[str]) -> list[str]:
    """`non matching` as `non-matching`, `class based` as `class-based`."""
    told: list[str] = []
    for word in words:
        if told and word.isalpha() and (told[-1] in PREFIXES or (word in SUFFIXES and class_of(told[-1]) in "NB")):
            told[-1] += f"-{word}"
        else:
            told.append(word)
    return told


def _numbered(words: list[str]) -> tuple[list[str], str]:
    """`empty value2` as `empty value` and 2, which tells one of many tests apart."""
    if len(words) > 2 and words[-1].isdigit() and class_of(words[-2]) != "R":
        return words[:-1], words[-1]
    found = re.fullmatch(r"([a-z]{3,})([0-9]{1,3})", words[-1])
    if found and len(words) > 1 and is_numbered(words[-1]) and class_of(found[1]) in "NQBYAPWV":
        return [*words[:-1], found[1]], found[2]
    return words, ""


def _parts(words: list[str]) -> list[list[str]]:
    """Parted where the name has colons of its own."""
    parts: list[list[str]] = [[]]
    for word in words:
        parts[-1].append(word.removesuffix(":"))
        if word.endswith(":"):
            parts.append([])
    return parts
