"""A name that states nothing as a label: its own words in their order, parted by a colon after what the file names.

A label is written as headings are: without articles, and it claims no outcome.  So it fits a name of two readings:
`Move transform.` is the words of `test_move_transform`, whether that is an act or a thing.  Each word gets a letter of
its class, and the letters must have the shape of a label; words of other shapes are left to be quoted.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from app.specview import phrases
from app.specview.classes import PREFIXES, SUFFIXES, class_of
from app.specview.lexicon import SUBORDINATORS
from app.specview.listed import listed
from app.specview.words import is_numbered, split_identifier

_BEFORE = "D?[UJ]?(?:M?[AP]){0,2}"
_ROW = "[NHKXGBYUW]{0,3}"
_NOUN = f"(?:{_BEFORE}(?:[AP][WGUJ]|[NKX]{{1,2}}P[NKX]{{1,2}}|{_ROW}(?:[NHKQTXBY]|QN)|[NHKXBY]{{1,3}}G|W)|[UJ])"
_ONE = f"(?!Y[APUO]|K[APUO].){_BEFORE}W?[NKXGBY]{{0,2}}[NKXBY]"
_MANY = f"{_BEFORE}W?[NKXGBY]{{0,2}}[HQ]"
_NONE = f"O?{_NOUN}"
_MORE = f"(?:L?R{_NONE}|RG{_NOUN}?|C{_NOUN}|PR{_NONE}|(?<!^)G{_NOUN})*M?"
_OBJECT = f"(?:D?U?(?:M?[AP])?(?:{_ROW}(?:[NHKQTXBY]|QN)|W)|[UJ])"
_CASE = f"A{_NOUN}{_MORE}|O{_NOUN}{_MORE}|[AUJ]|A?R{_NOUN}"
_SHAPES = re.compile(
    f"(?:{_NONE}E?P?|E[PA]){_MORE}"  # cookie jar; dotted name not allowed; response without body
    f"|[VYK](?:C[VYK])?L?{_OBJECT}?{_MORE}"  # get key; open and close file
    f"|G{_NOUN}?{_MORE}|R{_NONE}{_MORE}|RG{_NOUN}?{_MORE}"  # parsing headers; without session; before closing
    f"|{_MANY}V{_NOUN}{_MORE}"  # headers preserve order
    f"|(?:{_ONE}|{_MANY}|V{_OBJECT})(?P<case>{_CASE})"  # flag: invalid input; guess filename: valid
    f"|(?![BYK])(?:{_ONE})(?<![BY])(?P<act>V{_OBJECT}?{_MORE}|VO{_NOUN}{_MORE})"  # context: get header
    f"|{_ONE}S(?:{_OBJECT}|A)?{_MORE}"  # parent finishes child
    f"|[VBYK](?P<none>O{_NOUN})"  # abort: no app
)
_SEGMENT = re.compile("[A-Za-z]*[a-z][A-Za-z0-9]*")
#: of a segment, which needs no shape of its own
_CASES = re.compile("[A-HJ-WY]{1,5}")
#: two words that may both be verbs, and a word in no list next to one
_UNSURE = re.compile("[BYT][NKQ]?[BY]|^VY$|^V[BY][NK]|T[AUOP]|W[BY]|[BK]W|(?<!^)YW|YW.|^W(?![NHKQXGR])|CW")
#: a case that may stand after its noun without a colon: `global arg available in subcommand`
_SAID_OF = re.compile("A?R.*")
#: adjectives that are said of no case, or that are nouns as well
_NO_CASE = listed("various multiple final static constant first last default standard maximum minimum original")
#: parts of words rather than words: `test_post` is no case
_BOUND = listed("non multi sub pre post anti")
#: more words are a sentence without its verb
_LONGEST = 10


def label(words: list[str], *, identifier: bool, things: frozenset[tuple[str, ...]] = frozenset()) -> str | None:
    """The words as a label; nothing where they have the shape of none.

    identifier: of a function, not a title; things: what a case may follow, in lower case.
    """
    number = ""
    if identifier:
        words, number = _numbered(words)
        words = _joined(words)
        if any(re.search("[a-z][A-Z]", word) for word in words):
            return None  # symbols
    if any(word in (before, f"{before}s") for before, word in pairwise(words)):
        return None  # the types of arguments, or a slip: `property_string_string`, `error errors`
    if len(words) == 1 and words[0] in _BOUND:
        return None
    labels = [_part(part, things, identifier=identifier) for part in _parts(words)]
    if not all(labels):
        return None
    said = ": ".join(part for part in labels if part) + (f" ({number})" if number else "")
    if len(words) == 1 and class_of(words[0]) == "A" and words[0] not in _NO_CASE:
        return said if "case" in said else f"{said} case"
    return said


def segmented(text: str) -> str | None:
    """`ExactArgs_WithNoArgs_Twice`: what is tested, and the cases of it; nothing for names in one style."""
    segments = text.split("_")
    if len(segments) < 2 or segments[0].islower() or not all(_SEGMENT.fullmatch(segment) for segment in segments):
        return None
    if not any(re.search("[a-z][A-Z]", segment) for segment in segments):
        return None
    method, *cases = (split_identifier(segment) for segment in segments)
    if not all(_CASES.fullmatch("".join(class_of(word) for word in words)) for words in cases):
        return None
    if any(len(words) == 1 and class_of(words[0]) in "ST" for words in cases):
        return None  # `returns_false`: one case of two segments
    if any(word == before for words in cases for before, word in pairwise(words)):
        return None
    tested = label(method, identifier=True)
    if tested is None or ": " in tested:
        tested = f"`{segments[0]}`"
    return f"{tested}: {', '.join(' '.join(words) for words in cases)}"


def _part(words: list[str], things: frozenset[tuple[str, ...]], *, identifier: bool) -> str | None:
    if not words or len(words) > _LONGEST:
        return None
    letters = "".join(class_of(word) for word in words)
    if (at := _shape(letters)) is not None:
        if not at:
            return " ".join(words)
        if tuple(word.lower() for word in words[:at]) in things:
            return f"{' '.join(words[:at])}: {' '.join(words[at:])}"
        return " ".join(words) if _SAID_OF.fullmatch(letters[at:]) and letters[0] not in "VY" else None
    if identifier and is_numbered(words[0]) and len(words) > 1:  # the number of an issue, and what it was about
        rest = _part(words[1:], things, identifier=True)
        return rest and f"`{words[0]}`: {rest}"
    return _conditional(words, letters)


def _conditional(words: list[str], letters: str) -> str | None:
    """`stop when disabled`: a label with a condition after it."""
    for at, word in enumerate(words[:-1]):
        if word in SUBORDINATORS:
            read = phrases.condition(words, at)
            whole = read is not None and read.end == len(words)
            return " ".join(words) if whole and (at == 0 or _shape(letters[:at]) == 0) else None
    return None


@lru_cache(16_384)
def _shape(letters: str) -> int | None:
    """Find where a colon belongs, 0 for nowhere; None if the classes of the words are those of no label."""
    if letters in ("A", "J", "U"):
        return 0
    if len(letters) == 1 and letters not in "NHKQTBYVG":
        return None
    if letters.count("W") > 1 or set(letters) <= set("XDWU") or letters in ("RU", "RW") or _UNSURE.search(letters):
        return None
    found = _SHAPES.fullmatch(letters)
    return found and max(found.start("case"), found.start("act"), found.start("none"), 0)


def _joined(words: list[str]) -> list[str]:
    """`non matching` as `non-matching`, `class based` as `class-based`."""
    joined: list[str] = []
    for word in words:
        prefixed = joined and joined[-1] in PREFIXES and class_of(word) in "NKQTBYAPGW"
        suffixed = joined and word in SUFFIXES and class_of(joined[-1]) in "NKB"
        if word.isalpha() and (prefixed or suffixed):
            joined[-1] += f"-{word}"
        else:
            joined.append(word)
    return joined


def _numbered(words: list[str]) -> tuple[list[str], str]:
    """`empty value2` as `empty value` and 2, a number that distinguishes one of many tests."""
    if len(words) > 2 and words[-1].isdigit() and words[-2].islower() and class_of(words[-2]) != "R":
        return words[:-1], words[-1]
    found = re.fullmatch(r"([a-z]{3,})([0-9]{1,3})", words[-1])
    if found and len(words) > 1 and is_numbered(words[-1]) and class_of(found[1]) in "NKQTBYAPWVU":
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
