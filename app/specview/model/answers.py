"""The model's answers, read item by item: what does not fit is left out, and too much of it spoils the whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.domain.specification import UNGROUPED, Place, Subject
from app.specview.model.faults import CallFailed, Fault
from app.specview.model.grounding import borrowed, grounded, telling_words
from app.specview.model.presentable import place_name, presentable
from app.specview.model.prompts import LONGEST_SUMMARY
from app.specview.model.tongues import in_tongue
from app.specview.model.words import clean, words_of

#: Sentences of a summary.
MOST_SENTENCES = 4
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_THOUGHT = "</think>"
_END = re.compile(r"[.!?。！？۔।](?:\s|$)")  # noqa: RUF001 - as other languages end a sentence


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class _Placed(_Strict):
    domain: str
    feature: str = ""
    tests: list[Any]


class _Places(_Strict):
    places: list[Any] = Field(max_length=5000)


class _Sentence(_Strict):
    i: int
    s: str


class _Sentences(_Strict):
    sentences: list[Any] = Field(max_length=5000)


class _Summary(_Strict):
    summary: str


M = TypeVar("M", bound=BaseModel)


def read_places(text: str, chunk: Sequence[Subject], language: str) -> dict[int, Place]:
    """Places by position in the chunk; of a test that is placed twice, neither.  Raises: CallFailed bad_answer.

    A place that has its name from another test of the call is not taken: it is asked for again without that one.
    """
    found, twice = dict[int, Place](), set[int]()
    for row in _read(_Places, text).places:
        placed = _item(_Placed, row)
        if placed is None or (place := _place(placed, language)) is None:
            continue
        for number in placed.tests:
            known = type(number) is int and 0 <= number < len(chunk)
            if known and found.setdefault(number, place) != place:
                twice.add(number)
    rare = telling_words(chunk)
    return {
        number: place
        for number, place in found.items()
        if number not in twice and not borrowed(f"{place.domain} {place.feature}", chunk[number], rare)
    }


def read_sentences(text: str, chunk: Sequence[Subject], language: str) -> dict[int, str]:
    """Sentences by position in the chunk; of a test that has two, neither.  Raises: CallFailed bad_answer."""
    found, twice = dict[int, str](), set[int]()
    for row in _read(_Sentences, text).sentences:
        said = _item(_Sentence, row)
        if said is not None and 0 <= said.i < len(chunk) and found.setdefault(said.i, said.s) != said.s:
            twice.add(said.i)
    return grounded({number: sentence for number, sentence in found.items() if number not in twice}, chunk, language)


def read_summary(text: str, language: str) -> str:
    """Read a summary from the model's answer.  Raises: CallFailed with bad_answer."""
    summary = clean(_read(_Summary, text).summary, LONGEST_SUMMARY + 1)
    words = words_of(summary)
    honest = presentable(summary, LONGEST_SUMMARY) and len(_END.findall(summary)) <= MOST_SENTENCES
    if not honest or not in_tongue(words, language) or any(map(str.isdigit, words)):
        raise CallFailed(Fault.BAD_ANSWER)
    return summary


def _place(placed: _Placed, language: str) -> Place | None:
    domain, feature = place_name(placed.domain, language), place_name(placed.feature, language)
    if domain is None or feature is None:
        return None
    return Place(domain, feature) if domain else Place(UNGROUPED, UNGROUPED)


def _read(kind: type[M], text: str) -> M:
    """The object of an answer, without the thoughts, fences and words that some models put around it."""
    found = _OBJECT.search(text.rpartition(_THOUGHT)[2])
    try:
        return kind.model_validate_json(found[0] if found else "")
    except ValidationError:  # it shows what was sent
        raise CallFailed(Fault.BAD_ANSWER) from None


def _item(kind: type[M], row: object) -> M | None:
    try:
        return kind.model_validate(row)
    except ValidationError:
        return None
