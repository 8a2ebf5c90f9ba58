"""One Korean sentence about a test: a Korean frame around the words that the test itself has."""

from __future__ import annotations

import re

from app.specview import phrases
from app.specview.acts import is_act
from app.specview.forms import base_of_third, is_participle
from app.specview.korean_words import CONDITIONS, IRREGULAR, MOVES, VERBS
from app.specview.lexicon import ADVERBS, CONJUNCTIONS, MODALS, PREPOSITIONS, PRONOUNS
from app.specview.mentions import code, mention
from app.specview.particles import with_particle
from app.specview.predicates import predicate, spelt_words
from app.specview.titles import Title
from app.specview.words import is_code

_HANGUL = re.compile("[가-힣]")
#: Korean titles that are sentences already
_ENDED = re.compile(r"(?:다|요|까|음|함|임|됨|짐|것)$")
_KINDS = {"example": "사용 예를 보여 줍니다", "benchmark": "성능을 측정합니다", "fuzz": "무작위 입력을 시험합니다"}


def sentence(title: Title) -> str:
    """Finish a sentence with its period."""
    if title.kind != "test":
        return f"{code(title.text)}의 {_KINDS[title.kind]}{_case(title)}."
    words = spelt_words(title)
    if _HANGUL.search(title.text):
        return _native(" ".join(words))
    before = "".join(f"{_condition(context.split())} " for context in title.contexts)
    said = _predicate(words, title) or _doing(words, title) or _mentioned(words, title)
    return f"{before}{said}{_case(title)}."


def _native(text: str) -> str:
    """A title in Korean stays; one that is no sentence is what the test checks."""
    text = text.rstrip(". ")
    if _ENDED.search(text):
        return f"{text}."
    return f"{with_particle(_quoted(text), '을')} 확인합니다."


def _predicate(words: list[str], title: Title) -> str | None:
    """`should not return null` as `“null”을 반환하지 않습니다`."""
    found = _verb(words)
    read = predicate(words, identifier=title.identifier)
    if found is None or read is None:
        return None
    if title.identifier and phrases.verb_phrase([read.base, *read.rest], 0, read.base) is None:
        return None
    base, rest, form = found
    things, conditions = _parted(rest)
    noun = VERBS.get(base)
    subject = f"{with_particle(code(title.thing), '은')} " if title.thing else ""
    if things[:1] == ["to"] and len(things) > 1 and base in MOVES and _whole(things[1:]):
        goal = with_particle(_quoted(" ".join(_bare(things[1:]))), "으로")
        return f"{subject}{conditions}{goal} {_conjugated(MOVES[base], form)}"
    things = _bare(things)
    if base == "get" and things and is_participle(things[0]):
        return None  # `get called`: nothing is fetched
    if noun is None or not things or things[0] in PRONOUNS | PREPOSITIONS | CONJUNCTIONS or not _whole(things):
        return None
    return f"{subject}{conditions}{with_particle(_quoted(' '.join(things)), '을')} {_conjugated(noun, form)}"


def _bare(things: list[str]) -> list[str]:
    """Drop the article, which Korean does not have."""
    return things[1:] if things[:1] in (["a"], ["an"], ["the"]) else things


def _whole(things: list[str]) -> bool:
    """Whether what follows the verb is one thing, not a second statement or an adverb alone."""
    joined = MODALS | CONJUNCTIONS | {"that", "not", "is", "are"}
    return things[0] not in ADVERBS and not any(word in joined for word in things)


def _verb(words: list[str]) -> tuple[str, list[str], str] | None:
    """The base of a predicate's verb, what follows, and its form: does, does not, can, cannot."""
    if len(words) < 2:
        return None
    first, rest = words[0], words[1:]
    form = "does"
    if first in ("should", "must", "will", "does", "do"):
        if rest[0] == "not" and len(rest) > 1:
            form, rest = "does not", rest[1:]
        elif first in ("does", "do"):
            return None
    elif first in ("can", "cannot"):
        form = first
    else:
        base = base_of_third(first)
        return (base, rest, form) if base else None
    if rest[0] == "not":
        form, rest = "cannot", rest[1:]
    return (rest[0], rest[1:], form) if rest else None


def _conjugated(noun: str, form: str) -> str:
    stem, present, future = IRREGULAR.get(noun) or (f"{noun}하", f"{noun}합", f"{noun}할")
    ends = {"does": f"{present}니다", "does not": f"{stem}지 않습니다"}
    return ends.get(form) or f"{future} 수 {'있' if form == 'can' else '없'}습니다"


def _parted(words: list[str]) -> tuple[list[str], str]:
    """Split off the condition after a verb's object, as Korean puts it first."""
    for at, word in enumerate(words):
        if word in CONDITIONS and word not in ("with", "for") and at + 1 < len(words):
            return words[:at], f"{_condition(words[at:])} "
    return words, ""


def _condition(words: list[str]) -> str:
    opening = words[0].lower().rstrip(":")
    if opening in CONDITIONS and len(words) > 1:
        return f"{_quoted(' '.join(words[1:]))}{CONDITIONS[opening]}"
    return f"{_quoted(' '.join(words))} 조건에서"


def _doing(words: list[str], title: Title) -> str | None:
    """`delete_missing_key` as `“missing key” 삭제를 다룹니다`: what is done, with no outcome claimed."""
    noun = VERBS.get(words[0]) if words else None
    if noun is None or len(words) < 2 or words[1] in PREPOSITIONS | CONJUNCTIONS:
        return None
    if not _whole(words[1:]) or not is_act(words):
        return None
    return f"{_of(title)}{_quoted(' '.join(words[1:]))} {with_particle(noun, '을')} 다룹니다"


def _mentioned(words: list[str], title: Title) -> str:
    """`“cookie jar” 항목`: a label; a name that is none is what the test checks."""
    if about := mention(words, title):
        return f"{_of(title)}“{about}” 항목"
    text = title.text if not title.identifier or len(words) < 2 else " ".join(words)
    if not text:
        return "이름이 없는 테스트입니다"
    shown = code(text) if title.identifier and len(words) < 2 else _quoted(text)
    return f"{_of(title)}{shown} 항목을 확인합니다"


def _of(title: Title) -> str:
    return f"{code(title.thing)}의 " if title.thing else ""


def _quoted(text: str) -> str:
    return text if " " not in text and (is_code(text) or _HANGUL.search(text)) else f"“{text}”"


def _case(title: Title) -> str:
    return f" (“{title.case}”)" if title.case else ""
