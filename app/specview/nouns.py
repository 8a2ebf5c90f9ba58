"""Noun phrases: which words are surely one thing, and the article that a name leaves out before them."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from app.specview.acronyms import ACRONYMS, COUNTED_ACRONYMS
from app.specview.forms import base_of_third, indefinite, is_manner, is_participle, is_plural, takes_article
from app.specview.lexicon import (
    ADJECTIVES,
    ADVERBS,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    MODALS,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
    TRAILING,
    UNCOUNTED,
)
from app.specview.listed import listed
from app.specview.things import is_noun
from app.specview.verbs import NOUNS_FIRST, NOUNS_TOO, VERBS
from app.specview.words import is_code

#: more nouns in a row than this are rather misread than meant
LONGEST_RUN = 5


_FORMATS = listed("unicode gzip brotli zlib base64 json xml html css yaml toml csv utf8 ascii")
_ONE_OF_MANY = listed("different random single unknown invalid malformed unsupported truthy falsy")
_SIGNS = listed("- \u2013 & | + = => -> / :")
_PAST = listed("wrote went ran began came took gave got saw knew threw broke spoke")
_PREFIXES = listed("multi non sub pre post anti un re de")
_VALUES = listed("zero none nil null true false undefined")
_OF_MANY = listed("all both many several multiple two three four five six seven eight nine ten")
#: determiners that may stand for a noun
_ALONE = listed("""
this that these those some both another either neither many several one two three
""")


_DEFINITE = listed("""
current same default original right correct last first next previous only whole entire global max min maximum
minimum
""")


class Read(NamedTuple):
    """The text that was read, and where it ends."""

    text: str
    end: int
    plural: bool = False


def noun_phrase(words: list[str], at: int, *, article: str = "the", finite: bool = False) -> Read | None:
    """A noun with its article and adjectives.  article: the, a or none; finite: stop where a verb could follow."""
    start = at
    if at < len(words) and words[at] in PRONOUNS:
        return Read(words[at], at + 1)
    while at < len(words) and (words[at] in DETERMINERS):
        at += 1
    if _is_pair(words, at):
        return _paired(words, start, at, article=article)
    run = row(words, at, finite=finite)
    if run == at:
        return Read(" ".join(words[start:at]), at) if words[start:at] and words[at - 1] in _ALONE else None
    body = words[at:run]
    many = at > start and words[at - 1] in _OF_MANY
    plural = is_plural(body[-1])
    if not _sound(body) or (many and not plural and takes_article(body[-1])):
        return None
    shown = [*words[start:run]] if at > start else [*_article(body, article), *body]
    return Read(" ".join(shown), run, plural or many)


def _article(body: list[str], article: str) -> list[str]:
    if is_possessive(body[0]):
        return ["the"]
    if not article or not takes_article(body[-1]) or _named(body):
        return []
    if body[0] in _ONE_OF_MANY:
        return [indefinite(body[0])]
    return ["the"] if article == "the" or is_definite(body) else [indefinite(body[0])]


def _is_pair(words: list[str], at: int) -> bool:
    if at + 3 >= len(words) or words[at + 1] not in ("and", "or"):
        return False
    return words[at] in ADJECTIVES and words[at + 2] in ADJECTIVES


def _paired(words: list[str], start: int, at: int, *, article: str) -> Read | None:
    """`light and dark theme`."""
    read = noun_phrase(words, at + 2, article="")
    if read is None or read.end < at + 4:
        return None
    shown = " ".join([*words[start : at + 2], read.text])
    needed = article and at == start and takes_article(words[read.end - 1])
    return Read(f"the {shown}" if needed else shown, read.end, read.plural)


def is_inverted(body: list[str]) -> bool:
    """Whether an adjective follows a noun: `adapter unsupported status`."""
    return any(word in ADJECTIVES and before not in ADJECTIVES and before.isalpha() for before, word in pairwise(body))


def is_possessive(word: str) -> bool:
    """`user's`, `users'`, and no quotation."""
    return word.endswith(("'s", "s'")) and word.islower() and word[0] != "'"


def is_definite(body: list[str]) -> bool:
    """Whether a row names one thing: `Pro tier`, `current version`."""
    return body[0] in _DEFINITE or (body[0][:1].isupper() and not is_code(body[0]))


def _named(body: list[str]) -> bool:
    """`utf8 string` takes an article; `step 2`, `HTTP 200` and `User Menu` do not."""
    return body[-1][0].isdigit()


def row(words: list[str], at: int, *, finite: bool = False) -> int:
    """Find the end of a row of adjectives and nouns."""
    begun = at
    while at < len(words) and not _ends_run(words, at, begun, finite=finite):
        at += 1
    return at


def _ends_run(words: list[str], at: int, begun: int, *, finite: bool) -> bool:
    word = words[at]
    if (
        word in _SIGNS
        or word in PREPOSITIONS
        or word in CONJUNCTIONS
        or word in SUBORDINATORS
        or word in DETERMINERS
        or word in PRONOUNS
    ):
        return True
    if word in MODALS or word in BE or word in AUXILIARIES or word in ADVERBS or is_manner(word) or word == "not":
        return True
    if at == begun or word in TRAILING:
        return at > begun
    if is_participle(word):  # "node lost": what follows is said of the noun
        return at + 1 == len(words) or words[at + 1] in PREPOSITIONS or words[at + 1] in SUBORDINATORS
    return finite and _finite_verb(words, at)


def _finite_verb(words: list[str], at: int) -> bool:
    """Whether a word in -s is the verb of a clause rather than a plural."""
    base = base_of_third(words[at])
    if base is None:
        return False
    if base not in NOUNS_TOO:
        return True
    if at + 1 == len(words):
        return False
    following = words[at + 1]
    return following in DETERMINERS or following in PRONOUNS or following[0] in "`'\""


def _sound(body: list[str]) -> bool:
    """Whether a row of words is surely one noun with what belongs to it."""
    if len(body) > LONGEST_RUN or any(word[-1] in ":,;" for word in body) or any(word.isdigit() for word in body[1:-1]):
        return False
    if (
        body[0] in _PREFIXES
        or "non" in body
        or (len(body) > 1 and body[-1] in _VALUES)
        or (len(body) > 1 and _uncounted_after_noun(body))
    ):
        return False
    if len(body) > 1 and body[0] in NOUNS_TOO and body[0] not in NOUNS_FIRST:
        return False
    modified = all(_modifies(word, first=not place) for place, word in enumerate(body[:-1]))
    return modified and _heads(body[-1]) and not _stranded(body)


def _uncounted_after_noun(body: list[str]) -> bool:
    """`config from file JSON`: a noun before an acronym that is no part of it."""
    head, before = body[-1], body[-2]
    acronym = head in _FORMATS or (len(head) > 1 and head.isupper() and head.lower() not in COUNTED_ACRONYMS)
    return acronym and before.islower() and before not in ADJECTIVES and not is_participle(before)


def _heads(head: str) -> bool:
    """Whether a word can end a row, and is rather a noun than a verb."""
    if is_code(head):
        return True
    if head in ADJECTIVES or is_participle(head) or not is_known(head):
        return False
    base = base_of_third(head) or head
    return base not in VERBS or base in NOUNS_TOO


@lru_cache(16_384)
def is_known(head: str) -> bool:
    """Whether a word can end a row of nouns."""
    if "-" in head:
        head = head.rpartition("-")[2] or head
    return (
        is_noun(head.lower())
        or head in UNCOUNTED
        or head[:1].isupper()
        or head.endswith("ing")
        or head.lower() in ACRONYMS
    )


def _modifies(word: str, *, first: bool) -> bool:
    if is_code(word) or word in ADJECTIVES or word[:1].isupper():
        return True
    if is_participle(word):
        return first
    if (word in VERBS and word not in NOUNS_TOO) or word in _PAST:
        return False
    return not is_plural(word)


def _stranded(body: list[str]) -> bool:
    """Whether there is an adjective after a noun: `scheduler late`, `config missing file`."""
    nouns = False
    for word in body[:-1]:
        adjective = word in ADJECTIVES or is_participle(word)
        if adjective and nouns:
            return True
        nouns = nouns or not adjective
    return False
