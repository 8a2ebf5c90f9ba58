"""Forms of English words: third person, -ing, participles, number, and which article a noun takes."""

from __future__ import annotations

from functools import lru_cache

from app.specview.acronyms import ACRONYMS, COUNTED_ACRONYMS
from app.specview.lexicon import ADJECTIVES, IRREGULAR_PARTICIPLES, NOT_PARTICIPLES, NOT_PLURALS, PLURALS, UNCOUNTED
from app.specview.listed import listed
from app.specview.verbs import DOUBLED, VERBS

#: words whose forms are kept; a vocabulary of this size is a large repository's
_KEPT = 16_384
_NOT_MANNER = listed("""
daily weekly monthly yearly hourly assembly family supply reply apply anomaly multiply rely imply comply fly
readonly early
""")
_PARTED = {"in": "log sign", "out": "log sign", "up": "set sign look", "down": "tear", "back": "fall"}
_THIRD = {"be": "is", "have": "has", "do": "does", "go": "goes"} | {
    f"{verb}{particle}": f"{verb}s {particle}"
    for particle, verbs in {
        "in": "log sign",
        "out": "log sign",
        "up": "set sign look",
        "down": "tear",
        "back": "fall",
    }.items()
    for verb in verbs.split()
}


@lru_cache(_KEPT)
def third_person(base: str) -> str:
    """`returns` of `return`."""
    if base in _THIRD:
        return _THIRD[base]
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return base[:-1] + "ies"
    return base + "s"


@lru_cache(_KEPT)
def gerund(base: str) -> str:
    """`returning` of `return`."""
    if base in DOUBLED:
        return base + base[-1] + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    return base + "ing"


_BASES = {third_person(base): base for base in VERBS} | {"is": "be", "has": "have", "does": "do"}
_GERUNDS = {gerund(base): base for base in VERBS} | {"being": "be", "having": "have", "doing": "do"}


@lru_cache(_KEPT)
def base_of_third(word: str) -> str | None:
    """`return` of `returns`; nothing for a word that is no known verb in -s."""
    if word.startswith("re") and word not in _BASES and len(word) > 5 and word[2:].lstrip("-") in _BASES:
        return f"re{_BASES[word[2:].lstrip('-')]}"
    return _BASES.get(word)


def base_of_gerund(word: str) -> str | None:
    """`return` of `returning`."""
    return _GERUNDS.get(word)


@lru_cache(_KEPT)
def is_participle(word: str) -> bool:
    """Whether a word is a past participle, or a past tense that looks the same."""
    if word in NOT_PARTICIPLES or word in ADJECTIVES:
        return False
    return word in IRREGULAR_PARTICIPLES or (word.endswith("ed") and len(word) > 4)


def is_manner(word: str) -> bool:
    """Whether a word is an adverb in -ly."""
    return word.endswith("ly") and word.islower() and word not in _NOT_MANNER and len(word) > 3


@lru_cache(_KEPT)
def is_plural(word: str) -> bool:
    """Whether a noun is plural, as far as its end shows."""
    low = word.lower()
    if not low.replace("-", "").isalpha():
        return False
    if low in PLURALS:
        return True
    return low.endswith("s") and len(low) > 2 and low not in NOT_PLURALS and not low.endswith(("ss", "us", "is"))


@lru_cache(_KEPT)
def takes_article(head: str) -> bool:
    """Whether a singular noun is counted, so that it cannot stand alone."""
    if "-" in head and head.replace("-", "").isalpha() and head[0] != "-" and not head.lower().startswith("x-"):
        return takes_article(head.rpartition("-")[2])
    low = head.lower()
    if low in COUNTED_ACRONYMS:
        return True
    if low in ACRONYMS or low.startswith("x-"):
        return False
    if low.endswith("ness") and low not in ("harness", "witness"):
        return False
    if head != low or not head.isalpha() or low in UNCOUNTED or is_plural(head):
        return False
    return not (
        low.endswith("ing") and low not in ("string", "setting", "warning", "thing", "ring", "mapping", "heading")
    )


@lru_cache(_KEPT)
def indefinite(following: str) -> str:
    """`a` or `an`, by the sound that the next word begins with."""
    low = following.lower().lstrip("`'\"([{<-#.@_")
    capitals = following.partition("_")[0].partition("-")[0]
    if capitals.isupper() and len(capitals) > 1 and capitals.isalpha():
        return "an" if capitals[0] in "AEFHILMNORSX" and capitals not in ("NAN", "NULL", "RAM", "REST", "SOAP") else "a"
    if low.startswith(("uni", "use", "usa", "utf", "uri", "url", "uuid", "one", "eu", "ubi")) and not low.startswith(
        "unin"
    ):
        return "a"
    if low.startswith(("hour", "honest", "heir", "rfc")):
        return "an"
    return "an" if low[:1] in tuple("aeiou8") and low[:1] else "a"
