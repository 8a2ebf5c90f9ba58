"""The predicate of a name, read from its first words: `should …`, `returns …`, `does not …`, `can …`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.specview.forms import base_of_gerund, base_of_third, is_manner, is_participle, is_plural, third_person
from app.specview.lexicon import (
    ADJECTIVES,
    ADVERBS,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    MODALS,
    NEGATIONS,
    PREPOSITIONS,
    SUBORDINATORS,
    UNCOUNTED,
)
from app.specview.listed import listed
from app.specview.things import is_noun
from app.specview.titles import Title
from app.specview.verbs import INTRANSITIVE, MOSTLY_VERBS, NOUNS_TOO, PARTS, VERBS
from app.specview.words import is_code

_CONTRACTED = {
    "don't": "do not",
    "doesn't": "does not",
    "can't": "cannot",
    "won't": "will not",
    "shouldn't": "should not",
    "mustn't": "must not",
}
_OFTEN = ("never", "always", "also", "only", "still")
#: before a path they are no verbs: `get /users`
_HTTP_METHODS = listed("get head post put patch delete options")
_LOWER = re.compile(r"[a-z]+(?:-[a-z]+)*")


@dataclass(frozen=True, slots=True)
class Predicate:
    """The verb of a sentence and the words after it.

    verb: in the third person, with its negation, adverbs and auxiliaries; base: its bare form; rest: what follows.

    conjugated: whether the verb was bare in the name, so that verbs after `and` are bare as well.
    """

    verb: str
    base: str
    rest: tuple[str, ...]
    conjugated: bool = False


def spelt_words(title: Title) -> list[str]:
    """The words to read, with negations spelt out and the first one in lower case where it is an ordinary word."""
    words: list[str] = []
    for word in title.words:
        plain = word.replace("\u2019", "'")
        spelt = _CONTRACTED.get(plain.lower()) or (NEGATIONS.get(plain) if plain.islower() else None)
        words += spelt.split() if spelt else [word]
    if words and (words[0][1:].islower() or words[0] == "A") and _ordinary(words[0].lower()):
        words[0] = words[0].lower()
    if words[:1] in (["it"], ["then"], ["that"]) and len(words) > 1:
        words = words[1:]
    return [word.upper() if is_http_method(words, at) else word for at, word in enumerate(words)]


def is_http_method(words: Sequence[str], at: int) -> bool:
    """Whether a word is the method of an HTTP request, by the path after it."""
    return at + 1 < len(words) and words[at].lower() in _HTTP_METHODS and words[at + 1].startswith("/")


def _ordinary(word: str) -> bool:
    known = word in VERBS or base_of_third(word) or base_of_gerund(word) or word in MODALS or word in PREPOSITIONS
    return bool(
        known or word in DETERMINERS or word in SUBORDINATORS or word in ("not", "do", "does", "be", "then", "it")
    )


def predicate(words: list[str], *, identifier: bool) -> Predicate | None:
    """Read the verb at the start of a name, after adverbs of manner; nothing where the name begins otherwise."""
    front = 0
    while front < len(words) - 1 and (is_manner(words[front]) or words[front] in _OFTEN):
        front += 1
    if front >= len(words):
        return None
    found = _verb(words[front], words[front + 1 :], identifier=identifier, adverb=front > 0)
    if found is None:
        return None
    return Predicate(" ".join([*words[:front], found.verb]), found.base, found.rest, found.conjugated)


def _verb(first: str, rest: list[str], *, identifier: bool, adverb: bool) -> Predicate | None:
    if first in ("should", "shall") or (first in ("do", "does") and rest[:1] == ["not"]):
        return _bare(rest)
    if first in MODALS:
        return _modal(first, rest)
    if first == "does" and rest and base_of_third(rest[0]):
        return None  # a slip that has two readings
    base = None if identifier and first in ("is", "has", "does") else base_of_third(first)  # a function's name
    if (base and _does(base, rest, identifier=identifier)) or _acts_by_form(
        first, rest, identifier=identifier, adverb=adverb
    ):
        return Predicate(first, base or "", tuple(rest))
    if not identifier and first in VERBS and acts(first, rest):
        return Predicate(third_person(first), first, tuple(rest), conjugated=True)
    return None


def _bare(rest: list[str]) -> Predicate | None:
    """Read the verb after `should` or `does not`, and keep its negation."""
    negation = next((word for word in rest[:1] if word.lower() in ("not", "never")), "")
    rest = rest[1:] if negation else rest
    front = 0
    while front < len(rest) - 1 and (is_manner(rest[front]) or rest[front] in ADVERBS) and rest[front] not in VERBS:
        front += 1
    if front >= len(rest):
        return None
    manner = "".join(f"{word} " for word in rest[:front])
    base, after = rest[front], tuple(rest[front + 1 :])
    if base in ("be", "able"):  # "should able to" is a slip that is often made
        verb = "is able" if base == "able" else "is"
        return Predicate(" ".join([verb, *negation.split(), *manner.split()]), "be", after) if after else None
    base = base_of_third(base) or base  # so is "should provides"
    if base != "have" and base not in VERBS and not _could_be_verb(base):
        return None
    if negation.lower() == "not":
        return Predicate(f"does {negation} {manner}{base}", base, after)
    return Predicate(f"{negation} {manner}{third_person(base)}".strip(), base, after, conjugated=True)


def _could_be_verb(word: str) -> bool:
    """Whether a word in no list may be a verb, given that a verb is needed in its place."""
    known = (
        word in UNCOUNTED
        or is_noun(word)
        or word in ADJECTIVES
        or word in PREPOSITIONS
        or word in DETERMINERS
        or word in SUBORDINATORS
        or word in MODALS
    )
    return not known and len(word) > 2 and not word.endswith("ed") and _LOWER.fullmatch(word) is not None


def _modal(first: str, rest: list[str]) -> Predicate | None:
    at = 1 if [word.lower() for word in rest[:1]] == ["not"] else 0
    while at < len(rest) - 1 and (rest[at] in ADVERBS or is_manner(rest[at])) and rest[at] not in VERBS:
        at += 1
    if len(rest) > at and (rest[at] in VERBS or rest[at] in ("be", "have")):
        return Predicate(" ".join([first, *rest[: at + 1]]), rest[at], tuple(rest[at + 1 :]))
    return None


def _does(base: str, rest: list[str], *, identifier: bool) -> bool:
    """Whether a word in -s at the start is a verb and not a plural."""
    if not rest:
        return not identifier and (base not in NOUNS_TOO or base in ("work", "throw", "return"))
    following = rest[0]
    if base not in NOUNS_TOO:
        return True
    if following in DETERMINERS or following in SUBORDINATORS or following in ("to", "it", "itself"):
        return True
    if following in PREPOSITIONS or following in CONJUNCTIONS or following in BE or following in MODALS:
        return (
            not identifier and base in MOSTLY_VERBS | INTRANSITIVE and following in PREPOSITIONS and following != "of"
        )
    if not identifier and following.isalpha() and not base_of_third(following):
        return not is_participle(following) or (len(rest) > 1 and rest[1] not in PREPOSITIONS)
    return base in MOSTLY_VERBS or (
        not identifier
        and (is_code(following) or is_plural(following) or is_participle(following) or following in ADJECTIVES)
    )


def _acts_by_form(first: str, rest: list[str], *, identifier: bool, adverb: bool) -> bool:
    """`evals the group`, `no-ops since …`: a verb that is in no list, by what follows it."""
    if (
        identifier
        or base_of_third(first)
        or not (_LOWER.fullmatch(first) and first.endswith("s") and not first.endswith(("ss", "us", "is")) and rest)
    ):
        return False
    if first.endswith(("ates", "izes", "ises", "ifies")):
        return rest[0] not in PREPOSITIONS and rest[0] not in BE and rest[0] not in CONJUNCTIONS
    return adverb or rest[0] in ("the", "a", "an", "its", "itself", "all", "since", "because")


def acts(base: str, rest: list[str]) -> bool:
    """Whether a base at the start of a name is a command to do something to what follows."""
    if not rest or all(word.isdigit() for word in rest):
        return False
    if base not in NOUNS_TOO:
        return rest[0] != "per"
    if (base_of_third(rest[0]) or base) not in NOUNS_TOO:
        return False  # `default allows setting`
    if rest[0] in PREPOSITIONS or rest[0] in CONJUNCTIONS:
        return False
    return rest[0] in DETERMINERS or (base in MOSTLY_VERBS and rest[0] not in PARTS)
