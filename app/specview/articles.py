"""Articles for what a person wrote: none are missed in whole sentences, and telegrams get what they surely lack."""

from __future__ import annotations

import re
from itertools import takewhile

from app.specview.doubts import has_doubtful_article
from app.specview.forms import base_of_gerund, base_of_third, indefinite, takes_article
from app.specview.idioms import article_after
from app.specview.lexicon import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    MODALS,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
)
from app.specview.listed import listed
from app.specview.nouns import LONGEST_RUN, is_definite, is_known, is_possessive, noun_phrase, row
from app.specview.phrases import complement, condition
from app.specview.things import is_noun
from app.specview.verbs import NOUNS_TOO, PARTS, VERBS

_KINDS = listed("type kind sort form lack number piece")
_CONTRACTED = re.compile(r"\w(?:n['\u2019]t|['\u2019](?:re|ll|ve))$")
_WRITTEN = listed("a an the its their this these it's there's")


def is_full(words: list[str]) -> bool:
    """Whether a writer wrote articles or contractions, and so a whole sentence rather than a telegram."""
    return any(word in _WRITTEN or _CONTRACTED.search(word) for word in words)


def with_articles(words: list[str]) -> str:
    """A condition, or a phrase after a preposition, with what it leaves out."""
    if has_doubtful_article(words):
        return " ".join(words)
    if is_full(words):
        return articled(words, object_first=False)
    read = complement(words, 0)
    return read.text if read else articled(words, object_first=False)


def articled(words: list[str], *, object_first: bool = True, first: str = "the") -> str:
    """Words that cannot be read as a whole, with articles after prepositions.

    object_first: also at the start, where the article is `first`.
    """
    if has_doubtful_article(words):
        return " ".join(words)
    shown: list[str] = []
    at = 0
    while at < len(words):
        if words[at] in SUBORDINATORS and (read := condition(words, at)):
            return " ".join([*shown, read.text])
        opens = _opens(words, at, object_first=object_first)
        end = _row_end(words, at, object_first=object_first) if opens else at
        if end > at:
            shown += [*_article(words, at, end, first=first), *words[at:end]]
            at = end
        else:
            shown.append(words[at])
            at += 1
    return " ".join(shown)


def _opens(words: list[str], at: int, *, object_first: bool) -> bool:
    """Whether a noun is due here: at the start, after a preposition, or as the subject of a condition."""
    before = words[at - 1] if at else ""
    if words[at].endswith("ing") and (base_of_gerund(words[at]) or before in SUBORDINATORS):
        return False
    if at == 0:
        return object_first
    if before in SUBORDINATORS:
        return _is_subject(words, at)
    if before in PREPOSITIONS:
        verb = before == "to" and (words[at] in VERBS or words[at] in ("be", "have"))
        return not verb and not (before == "of" and at > 1 and words[at - 2] in _KINDS and not object_first)
    return _is_object(words, at, object_first=object_first)


def _is_object(words: list[str], at: int, *, object_first: bool) -> bool:
    """Whether a word is the object of a gerund, or of the verb in `that uses comma operator`."""
    before = words[at - 1]
    if base_of_gerund(before):
        if at > 1 and words[at - 2] == "by" and is_noun(words[at]):
            return False  # `by blocking attribute`: an attribute, or to block one
        return object_first if at == 1 else words[at - 2] in PREPOSITIONS | SUBORDINATORS
    return at > 1 and words[at - 2] in ("that", "which") and base_of_third(before) is not None


def _is_subject(words: list[str], at: int) -> bool:
    end = row(words, at)
    if end == len(words):
        return False
    verb = words[end]
    return verb in BE or verb in MODALS or verb in AUXILIARIES or verb == "and" or base_of_third(verb) is not None


def _row_end(words: list[str], at: int, *, object_first: bool) -> int:
    """Find the end of words that surely are one noun, though their structure is unclear."""
    read = noun_phrase(words, at)
    end = read.end if read else row(words, at)
    if words[at][:1].isupper():  # a label of a page: "Reset all filters button"
        near = range(at, min(at + 6, len(words)))
        label = takewhile(lambda part: words[part] not in PREPOSITIONS | SUBORDINATORS, near)
        end = next((part + 1 for part in label if words[part] in PARTS), end)
    head = words[end - 1] if end > at else ""
    if not object_first and end == at + 1 and head.endswith(("ion", "ment", "ance", "ence")):
        return at  # "available for inclusion": whoever wrote the other articles left this one out
    if read:
        return end
    named = is_known(head) or (head in NOUNS_TOO and end - at > 1)
    sound = end - at <= LONGEST_RUN and named and not any(word[-1] in ":,;" for word in words[at:end])
    return end if sound else at


def _article(words: list[str], at: int, end: int, *, first: str) -> list[str]:
    body = words[at:end]
    if body[0] in DETERMINERS or body[0] in PRONOUNS:
        return []
    if is_possessive(body[0]):
        return ["the"]
    article = article_after(words[at - 1], body) if at else first
    if not article or not takes_article(body[-1]) or body[-1][0].isdigit():
        return []
    return [indefinite(body[0]) if article == "a" and not is_definite(body) else "the"]
