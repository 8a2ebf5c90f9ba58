"""Names of methods within the names of tests, which stay whole: `getName` of `testGetNameDelegatesToParent`."""

from __future__ import annotations

from app.specview import phrases
from app.specview.forms import base_of_third, is_participle
from app.specview.lexicon import ADJECTIVES, MODALS
from app.specview.listed import listed
from app.specview.nouns import is_known
from app.specview.verbs import INTRANSITIVE, NOUNS_TOO, VERBS

#: verbs that an adjective may follow: `can be empty`
_LINKING = listed("be have become remain stay return keep make start stop")
#: what names of methods open with, and hardly any act
_ACCESSORS = listed("get set is has to as from of")
_ORDINALS = listed("first last next all any one")


def is_method(words: list[str]) -> bool:
    """Whether what follows `can` or `should` is a method's name and no act: `canFindFirst`."""
    if len(words) < 3 or words[0] not in MODALS or words[1] not in VERBS:
        return False
    acts = words[1] not in _LINKING and words[1] not in INTRANSITIVE
    return acts and all(word in ADJECTIVES or word in _ORDINALS for word in words[2:])


def about_method(words: list[str], text: str) -> str | None:
    """A method, as code, and what it surely does; text: the name in camel case that the words are of."""
    at = verb_at(words)
    if not at or words[0] not in _ACCESSORS or "_" in text:
        return None
    if any(word in ADJECTIVES or is_participle(word) for word in words[1:at]):
        return None  # `getMissingKeyReturnsNull`: no method has that name
    read = phrases.finite(words, at)
    method = _method(words[:at], text) if read and read.end == len(words) else None
    return method and f"`{method}` {' '.join(words[at:])}"


def verb_at(words: list[str]) -> int:
    """Find the verb after the name of a method or an act, 0 for nowhere: `get display name delegates to …`."""
    if not words or (words[0] not in VERBS and words[0] not in _ACCESSORS):
        return 0
    return next((at for at in range(2, len(words) - 1) if _acts(words, at)), 0)


def _acts(words: list[str], at: int) -> bool:
    base = base_of_third(words[at])
    return base is not None and base not in NOUNS_TOO and is_known(words[at - 1])


def _method(words: list[str], text: str) -> str | None:
    """The start of a name as it is written, without the capital that a mark before it asked for."""
    end = sum(map(len, words))
    return text[:1].lower() + text[1:end] if text[:end].lower() == "".join(words).lower() else None
