"""What a name that states nothing is about, as the object of `Covers …`."""

from __future__ import annotations

import re

from tasks.specview import articles, phrases
from tasks.specview.acronyms import ACRONYMS
from tasks.specview.forms import base_of_gerund, base_of_third, gerund, is_participle, is_plural, takes_article
from tasks.specview.lexicon import (
    ADJECTIVES,
    ADVERBS,
    AUXILIARIES,
    BE,
    CONJUNCTIONS,
    DETERMINERS,
    MODALS,
    PARTICLES,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
    UNCOUNTED,
)
from tasks.specview.listed import listed
from tasks.specview.nouns import noun_phrase, row
from tasks.specview.predicates import acts
from tasks.specview.things import is_noun
from tasks.specview.titles import Title
from tasks.specview.verbs import MOSTLY_VERBS, NOUNS_FIRST, NOUNS_TOO, UNSURE, VERBS
from tasks.specview.words import is_numbered, looks_like_code, noted

#: names of callbacks and conversions: `on_close`, `to_json`, `as_dict`, `is_valid`
#: `connect timeout` is a timeout, `decode error` is an error
_NAMED_BY_VERBS = listed("""
error timeout failure exception handler callback hook event mode option flag policy strategy type panic
""")
_MAINLY_NOUNS = listed("""
test filter default case cache class file function group hash header index key link list log name query queue
request result schedule score segment session signal source state type user view
""")
_NEED_OBJECTS = listed("get set add make create find send use put")
_NOT_ALONE = listed("nothing everything something none null nil true false undefined zero default")
_SYMBOL_OPENINGS = listed("before after on to from as is has in by at of for and or")


def mention(words: list[str], title: Title) -> str:
    """A gerund, a noun or a case where the name is surely one, else the name itself as code or in quotation marks."""
    foreign = re.search(r"[^\x00-\u024f\u2000-\u2bff]", title.text)
    if foreign or not words:
        return _quoted(words, title)
    if len(words) == 1 or (title.identifier and words[0] in _SYMBOL_OPENINGS):
        return words[0] if len(words) == 1 and _stands_alone(words[0]) else code(title.text)
    if title.titled and looks_like_code(title.text):
        return code(title.text)
    if title.identifier and any(is_numbered(word) or _is_abbreviation(word) for word in words):
        return _quoted(words, title)
    words, note = noted(words)
    if not words:
        return _quoted(note, title)
    said = _case(words) if words[0] in PREPOSITIONS or words[0] in SUBORDINATORS else _named(words, title)
    return " ".join([said, *note]) if said else _quoted([*words, *note], title)


def _is_abbreviation(word: str) -> bool:
    """A short word in no list, capitals that are no acronym, or an inner capital: nobody can tell how it is used."""
    if word.startswith("__"):
        return True
    if re.search("[a-z][A-Z]", word):
        return word.lower() not in ACRONYMS
    if len(word) > 1 and word.isalpha() and word.isupper():
        return word.lower() not in ACRONYMS
    return len(word) <= 4 and word.isalpha() and word.islower() and not _is_word(word)


def _is_word(word: str) -> bool:
    known = word in VERBS or word in UNCOUNTED or word in ADJECTIVES or word in ADVERBS or word in PREPOSITIONS
    known = known or word in DETERMINERS or word in CONJUNCTIONS or word in SUBORDINATORS or word in PRONOUNS
    known = known or word in MODALS or word in BE or word in AUXILIARIES or word in PARTICLES or word in ("not", "be")
    return known or is_noun(word) or is_participle(word) or bool(base_of_third(word) or base_of_gerund(word))


def _named(words: list[str], title: Title) -> str | None:
    if words[0] in ("be", "has", "have", "is", "are", "was"):
        return None
    if words[0] == "no":
        read = noun_phrase(words, 0)
        return f"the case of {read.text}" if read and read.end == len(words) else None
    if title.identifier or words[0] == "not":
        said = doing(words, camel="_" not in title.text)
        if said:
            return said
    return _gerund(words) or _noun(words, identifier=title.identifier)


def code(text: str) -> str:
    """A name of the program, marked as such."""
    return text if "`" in text else f"`{text}`"


def _stands_alone(word: str) -> bool:
    if not word.isalpha() or word in VERBS or word in ADVERBS or is_participle(word):
        return False
    return (
        base_of_gerund(word) is not None
        or (is_plural(word) and is_noun(word))
        or (word in UNCOUNTED and word not in _NOT_ALONE)
    )


def _case(words: list[str]) -> str | None:
    """`without session`: the case without a session; `when empty`: what happens when empty."""
    said = articles.told(words) if articles.is_full(words) else ((read := phrases.complement(words, 0)) and read.text)
    if not said:
        return None
    event = words[0] in SUBORDINATORS and (words[0] not in PREPOSITIONS or phrases.clause(words, 1))
    return f"what happens {said}" if event else f"the case {said}"


def doing(words: list[str], *, camel: bool = False) -> str | None:
    """`encode exception as json` as `encoding the exception as JSON`: no outcome is claimed."""
    negated = words[0] == "not" and len(words) > 1
    at = 1 if negated else 0
    base, rest = words[at], words[at + 1 :]
    if base not in VERBS or base in UNSURE or not acts(base, rest) or _may_be_named(base, rest, camel=camel):
        return None
    read = phrases.verb_phrase(words, at, base, shown=f"{'not ' if negated else ''}{gerund(base)}")
    return read.text if read and read.end == len(words) else None


def _may_be_named(base: str, rest: list[str], *, camel: bool) -> bool:
    """Whether a verb and what follows may as well be the name of a thing: `move transform`, `SearchWrappers`."""
    if (base in NOUNS_TOO and camel) or (base in _NEED_OBJECTS and rest[0] in PREPOSITIONS) or "but" in rest:
        return True
    if any(word in VERBS and word not in _MAINLY_NOUNS for word in rest[: row(rest, 0)]):
        return True  # `enter exit`: two acts; `connect timeout`: a timeout
    if rest[0] in SUBORDINATORS or rest[0] == "no" or (len(rest) == 1 and base_of_gerund(rest[0])):
        return True
    return row(rest, 0) == len(rest) and rest[-1] in _NAMED_BY_VERBS


def _gerund(words: list[str]) -> str | None:
    base = base_of_gerund(words[0])
    read = phrases.verb_phrase(words, 0, base) if base else None
    return read.text if read and read.end == len(words) else None


def _noun(words: list[str], *, identifier: bool) -> str | None:
    if len(words) == 1 and takes_article(words[0]):
        return None
    if words[0] in NOUNS_TOO and words[0] not in NOUNS_FIRST and len(words) > 1:
        return None
    if identifier and len(words) > 1 and words[0] in MOSTLY_VERBS:
        return None
    read = noun_phrase(words, 0)
    if identifier and "to" in words:
        return None  # `eta_to_datetime`: made into it, not on the way to it
    rest = read and phrases.complement(words, read.end)
    if read is None or rest is None or rest.text in ADVERBS:
        return None
    return f"{read.text} {rest.text}".strip()


def _quoted(words: list[str], title: Title) -> str:
    if title.identifier and "_" not in title.text and title.text.isascii():
        return code(title.text)
    text = " ".join(words) if title.identifier else title.text
    return f"the case “{text}”" if text else "a test without a name"
