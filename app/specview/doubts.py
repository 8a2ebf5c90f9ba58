"""Telegrams that have no sure reading, or no sure articles, where a sentence would be wrong or say something else."""

from __future__ import annotations

from app.specview.acronyms import ACRONYMS
from app.specview.forms import base_of_third, is_participle, takes_article
from app.specview.lexicon import ADJECTIVES, AUXILIARIES, BE, DETERMINERS, MODALS, PREPOSITIONS
from app.specview.listed import listed
from app.specview.nouns import is_known, noun_phrase, row
from app.specview.things import NOUNS, is_noun
from app.specview.verbs import NOUNS_TOO, VERBS

#: verbs that act on nothing: in `work "view engine" setting` a word is missing
_WITHOUT_OBJECT = listed("work arrive happen occur exist depend rely consist belong")
#: after them a single word may as well be the only one of its kind: `into head`, `as root`
_ONE_OR_ANY = listed("into as for")
_JOINTS = listed("and or & nor")


def is_doubtful(base: str, rest: list[str]) -> bool:
    """Whether what follows a verb is no English even with articles.  rest: not empty."""
    if base in _WITHOUT_OBJECT and (rest[0][0] in "\"'`" or is_noun(rest[0])):
        return True
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


def has_doubtful_article(words: list[str]) -> bool:
    """Whether a noun without an article is one that none can be chosen for, so that the words stay as they are.

    A telegram gets all its articles or none: `handler and middleware response` is a handler's response or a handler.
    """
    at = 0
    while at < len(words):
        end = row(words, at)
        before = words[at - 1] if at else ""
        if end > at and before not in DETERMINERS and _is_unsure(before, words[at:end], words[end : end + 1]):
            return True
        at = max(end, at + 1)
    return False


def _is_unsure(before: str, body: list[str], after: list[str]) -> bool:
    """Whether words without a determiner may or may not lack an article.  before, after: the words around them."""
    head = body[-1]
    if not takes_article(head) or is_participle(head) or not (is_known(head) or head in NOUNS_TOO):
        return False
    if before in _JOINTS or (after and after[0] in _JOINTS):
        return True
    if any(word[0] in "\"'`" or (word[:1].isupper() and word[1:].islower()) for word in body):
        return True
    if len(body) > 1:
        return False
    return before in _ONE_OR_ANY or not (head in NOUNS or head in NOUNS_TOO or head.lower() in ACRONYMS)


def _opens_twice(rest: list[str]) -> bool:
    """`be hoisted title tag`: neither a participle with its object nor a noun without its article."""
    if len(rest) < 2 or not is_participle(rest[0]):
        return False
    return rest[1][0] in "\"'`" or (is_known(rest[1]) and rest[1] not in PREPOSITIONS)


def _is_said(word: str) -> bool:
    """Whether a condition may use a word without a verb: `when empty`."""
    return word in ADJECTIVES or word == "not" or word.endswith("ing") or is_participle(word)
