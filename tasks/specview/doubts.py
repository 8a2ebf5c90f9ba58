"""Telegrams after a verb that have no sure reading, where a sentence would be wrong or would say something else."""

from __future__ import annotations

from tasks.specview.forms import base_of_third, is_participle
from tasks.specview.lexicon import ADJECTIVES, AUXILIARIES, BE, MODALS, PREPOSITIONS
from tasks.specview.nouns import is_known, noun_phrase
from tasks.specview.things import is_noun
from tasks.specview.verbs import NOUNS_TOO, VERBS


def is_doubtful(base: str, rest: list[str]) -> bool:
    """Whether what follows a verb is no English even with articles.  rest: not empty."""
    if base == "be" and (_opens_twice(rest) or "be" in rest[:2]):
        return True
    if rest[0] in VERBS and rest[0] not in NOUNS_TOO and not is_known(rest[0]) and rest[0] not in ADJECTIVES:
        return True  # `allow disable protection`
    at = next((at for at, word in enumerate(rest) if word in ("when", "if")), len(rest))
    return len(rest) > at + 2 and not has_verb(rest[at:]) and not any(map(_is_said, rest[at + 1 :]))


def has_verb(words: list[str]) -> bool:
    """Whether one of the words after the first surely is a verb."""
    return any(
        word in BE or word in MODALS or word in AUXILIARIES or base_of_third(word) or "n't" in word
        for word in words[1:]
    )


def lacks_article(rest: list[str]) -> bool:
    """Whether the object lacks the article that a later noun has: `parses upload with a name`."""
    read = noun_phrase(rest, 0, article="a")
    added = read is not None and read.text.startswith(("a ", "an ")) and rest[0] not in ("a", "an")
    return read is not None and added and (is_noun(rest[read.end - 1]) or rest[read.end - 1] in NOUNS_TOO)


def _opens_twice(rest: list[str]) -> bool:
    """`be hoisted title tag`: neither a participle with its object nor a noun without its article."""
    if len(rest) < 2 or not is_participle(rest[0]):
        return False
    return rest[1][0] in "\"'`" or (is_known(rest[1]) and rest[1] not in PREPOSITIONS)


def _is_said(word: str) -> bool:
    """Whether a condition may say it without a verb: `when empty`."""
    return word in ADJECTIVES or word == "not" or word.endswith("ing") or is_participle(word)
