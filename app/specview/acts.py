"""Whether a name without articles surely is a verb and what it acts on: `delete_missing_key`, not `connect_timeout`."""

from __future__ import annotations

from app.specview import phrases
from app.specview.forms import base_of_gerund
from app.specview.lexicon import PREPOSITIONS, SUBORDINATORS
from app.specview.listed import listed
from app.specview.nouns import row
from app.specview.predicates import acts
from app.specview.verbs import UNSURE, VERBS

#: `connect timeout` is a timeout, `decode error` is an error
_NAMED_BY_VERBS = listed("""
error timeout failure exception handler callback hook event mode option flag policy strategy type panic
""")
_MAINLY_NOUNS = listed("""
test filter default case cache class file function group hash header index key link list log name query queue
request result schedule score segment session signal source state type user view
""")
_NEED_OBJECTS = listed("get set add make create find send use put")


def is_act(words: list[str]) -> bool:
    """Whether the first word is a verb that the others are the object of, in no other reading."""
    base, rest = words[0], words[1:]
    if base not in VERBS or base in UNSURE or not acts(base, rest) or _may_be_named(base, rest):
        return False
    read = phrases.verb_phrase(words, 0, base)
    return read is not None and read.end == len(words)


def _may_be_named(base: str, rest: list[str]) -> bool:
    """Whether a verb and what follows may as well be the name of a thing: `move transform`."""
    if (base in _NEED_OBJECTS and rest[0] in PREPOSITIONS) or "but" in rest:
        return True
    if any(word in VERBS and word not in _MAINLY_NOUNS for word in rest[: row(rest, 0)]):
        return True  # `enter exit`: two acts; `connect timeout`: a timeout
    if rest[0] in SUBORDINATORS or rest[0] == "no" or (len(rest) == 1 and base_of_gerund(rest[0])):
        return True
    return row(rest, 0) == len(rest) and rest[-1] in _NAMED_BY_VERBS
