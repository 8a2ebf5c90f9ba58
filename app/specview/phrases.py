"""Phrases of English: what can be read as a verb phrase, a clause or a condition.

Every reader takes words and a position, and answers the text it read and the position after it, or nothing where the
words are not surely such a phrase.  Nothing is added but articles, and forms of "be" that a name leaves out.
"""

from __future__ import annotations

from app.specview.forms import base_of_gerund, base_of_third, is_manner, is_participle
from app.specview.idioms import article_after
from app.specview.lexicon import (
    ADJECTIVES,
    ADVERBS,
    BE,
    CONJUNCTIONS,
    MODALS,
    PARTICLES,
    PREPOSITIONS,
    SUBORDINATORS,
    TRAILING,
)
from app.specview.listed import listed
from app.specview.nouns import Read, noun_phrase, row
from app.specview.things import is_noun
from app.specview.verbs import INDEFINITE, INTRANSITIVE, MOSTLY_VERBS, NOUNS_TOO, VERBS

_BEFORE_DOING = listed("by when while after before without")
_PAST = listed("""
succeeded failed occurred happened exited finished appeared existed crashed began ended
""")
_TWO_PREPOSITIONS = listed("""
from_within inside_of outside_of up_to off_of except_for as_of from_inside from_before from_under from_outside
""")
_PERMITTING = listed("allow support prevent avoid permit forbid skip try stop start")
_BEFORE_TO_DO = listed("""
fail failed try tried attempt attempted want wanted need needed able unable about ready going likely
""")
_PAIRS = {("instead", "of"), ("because", "of"), ("due", "to")}


def complement(words: list[str], at: int) -> Read | None:
    """All that may follow a verb or noun: prepositional phrases, `and …`, conditions; to the end of the words."""
    parts: list[str] = []
    while at < len(words):
        read = _complement(words, at)
        if read is None:
            return None
        parts.append(read.text)
        at = read.end
    return Read(" ".join(parts), at)


def _complement(words: list[str], at: int) -> Read | None:
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) else ""
    if word in ADVERBS or is_manner(word) or (is_participle(word) and following in PREPOSITIONS):
        return Read(word, at + 1)
    if word in SUBORDINATORS and (read := condition(words, at)):
        return read
    if word in PREPOSITIONS or (word, following) in _PAIRS:
        return _after(words, at, 1 if word in PREPOSITIONS else 2)
    if word in TRAILING:
        return verb_phrase(words, at, base_of_gerund(word) or "")
    if word in CONJUNCTIONS and (read := noun_phrase(words, at + 1, article=_article_before(words, at))):
        return Read(f"{word} {read.text}", read.end)
    return None


def _article_before(words: list[str], at: int) -> str:
    """The article of what `and` joins to: that after the nearest preposition."""
    opening = next((word for word in reversed(words[:at]) if word in PREPOSITIONS), "")
    return article_after(opening, [])


def _after(words: list[str], at: int, size: int) -> Read | None:
    """A preposition with its noun, or with a gerund."""
    opening = " ".join(words[at : at + size])
    if at + size < len(words) and f"{opening}_{words[at + size]}" in _TWO_PREPOSITIONS:
        further = _after(words, at + size, 1)
        return further and Read(f"{opening} {further.text}", further.end)
    if opening == "to" and at + 1 < len(words) and _infinitive(words, at + 1):
        return verb_phrase(words, at + 1, words[at + 1], opening="to ")
    if at + size < len(words) and (base := base_of_gerund(words[at + size])):
        if opening == "by" and words[at + size + 1 : at + size + 2] and is_noun(words[at + size + 1]):
            return None  # `by blocking attribute`: an attribute, or to block one
        doing = verb_phrase(words, at + size, base, shown=words[at + size], opening=f"{opening} ")
        if doing or opening in _BEFORE_DOING:
            return doing
    if opening in ("by", "when", "while") and words[at + size : at + size + 1] and words[at + size].endswith("ing"):
        return verb_phrase(words, at + size, "", opening=f"{opening} ")
    read = noun_phrase(words, at + size, article=article_after(opening, words[at + size :]))
    return read and Read(f"{opening} {read.text}", read.end)


def _infinitive(words: list[str], at: int) -> bool:
    """Whether the word at `at`, which follows `to`, is a verb."""
    word = words[at]
    before = words[at - 2] if at > 1 else ""
    if word in VERBS and (before in _BEFORE_TO_DO or base_of_third(before) in _BEFORE_TO_DO):
        return True
    if word not in VERBS or word not in NOUNS_TOO:
        return word in VERBS or word in ("be", "have")
    return word in MOSTLY_VERBS and at + 1 < len(words) and words[at + 1] not in PREPOSITIONS


def verb_phrase(words: list[str], at: int, base: str, *, shown: str = "", opening: str = "") -> Read | None:
    """A verb with its object and all that follows, to the end.  shown: the verb as it is to be written."""
    verb = shown or words[at]
    parts = [f"{opening}{verb}"]
    at += 1
    if at < len(words) and words[at] in PARTICLES and base in VERBS:
        parts.append(words[at])
        at += 1
    if base not in INTRANSITIVE and at < len(words):
        thing = _object(words, at, base)
        if thing:
            parts.append(thing.text)
            at = thing.end
        elif is_participle(words[at]) and base != "be":
            return None
    rest = complement(words, at)
    if rest is None:
        return None
    return Read(" ".join([*parts, rest.text]).strip(), rest.end)


def _object(words: list[str], at: int, base: str) -> Read | None:
    if base == "be" or (base == "get" and is_participle(words[at])):
        return be_phrase(words, at)
    if words[at] == "that" and (read := clause(words, at + 1)):
        return Read(f"that {read.text}", read.end)
    if base in _PERMITTING and words[at + 1 :] and (doing := base_of_gerund(words[at])):
        return verb_phrase(
            words, at, doing, shown=words[at]
        )  # to allow renaming a callback, not a callback that renames
    return noun_phrase(words, at, article="a" if base in INDEFINITE else "the")


def be_phrase(words: list[str], at: int) -> Read | None:
    """Read what may follow `is`: an adjective, a participle or a noun.  None: it is not clear."""
    parts: list[str] = []
    while at < len(words) and (words[at] in ADVERBS or is_manner(words[at])):
        parts.append(words[at])
        at += 1
    if at >= len(words):
        return Read(" ".join(parts), at) if parts else None
    final = at + 1 == len(words) or words[at + 1] in PREPOSITIONS or words[at + 1] in SUBORDINATORS
    final = final or words[at + 1] in CONJUNCTIONS or words[at + 1] in ADVERBS or is_manner(words[at + 1])
    if is_participle(words[at]) and not final:
        return None  # "is passed function block": of the two readings neither is sure
    if (words[at] in ADJECTIVES or is_participle(words[at])) and final:
        return Read(" ".join([*parts, words[at]]), at + 1)
    if words[at].endswith(("able", "ible", "ive", "ful")) and final:
        return Read(" ".join([*parts, words[at]]), at + 1)
    read = noun_phrase(words, at, article="a")
    return read and Read(" ".join([*parts, read.text]), read.end)


def finite(words: list[str], at: int) -> Read | None:
    """A verb that agrees with a singular subject, and all that follows."""
    if at >= len(words):
        return None
    word = words[at]
    if word in ADVERBS or is_manner(word):
        read = finite(words, at + 1)
        return read and Read(f"{word} {read.text}", read.end)
    if word in BE:
        return _being(words, at)
    if word in MODALS or word in ("does", "do", "did"):
        return _helped(words, at)
    if base := base_of_third(word):
        return verb_phrase(words, at, base)
    return None


def _being(words: list[str], at: int) -> Read | None:
    opening = words[at]
    at += 1
    if at < len(words) and words[at] == "not":
        opening, at = f"{opening} not", at + 1
    said = be_phrase(words, at) or _after_be(words, at)
    rest = said and complement(words, said.end)
    return Read(f"{opening} {said.text} {rest.text}".strip(), rest.end) if said and rest else None


def _after_be(words: list[str], at: int) -> Read | None:
    return _after(words, at, 1) if at < len(words) and words[at] in PREPOSITIONS else None


def _helped(words: list[str], at: int) -> Read | None:
    """`can`, `does not` and their like, with their verb."""
    opening = words[at]
    at += 1
    if at < len(words) and words[at] in ("not", "never", "still", "also", "only", "always"):
        opening, at = f"{opening} {words[at]}", at + 1
    if opening in ("does", "do", "did") or at >= len(words):
        return None
    base = words[at]
    if base == "be":
        read = _being(["is", *words[at + 1 :]], 0)
        return read and Read(f"{opening} be{read.text[2:]}", len(words))
    if base == "have" or base in VERBS:
        read = verb_phrase(words, at, base)
        return read and Read(f"{opening} {read.text}", read.end)
    return None


def clause(words: list[str], at: int) -> Read | None:
    """A subject and its verb, to the end of the words."""
    subject = noun_phrase(words, at, finite=True)
    if subject is None:
        return None
    middle = _of(words, subject)
    if (
        middle.end < len(words)
        and (read := finite(words, middle.end))
        and _agrees(words[middle.end], plural=middle.plural)
    ):
        return Read(f"{middle.text} {read.text}", read.end)
    return None


def _of(words: list[str], subject: Read) -> Read:
    """A subject with one phrase of `of`, `with`, … before its verb."""
    at = subject.end
    if at < len(words) and words[at] in PREPOSITIONS:
        read = noun_phrase(words, at + 1, article=article_after(words[at], words[at + 1 :]), finite=True)
        if read:
            return Read(f"{subject.text} {words[at]} {read.text}", read.end, subject.plural)
    return subject


def _agrees(verb: str, *, plural: bool) -> bool:
    if verb in MODALS or verb in ADVERBS or is_manner(verb):
        return True
    return (verb in ("are", "were", "do", "have")) == plural


def condition(words: list[str], at: int) -> Read | None:
    """`when …`, with the verb that telegrams leave out: `when quota exceeded`, `when no results`."""
    opening = words[at]
    following = words[at + 1] if at + 1 < len(words) else ""
    if not following:
        return None
    if read := clause(words, at + 1):
        return Read(f"{opening} {read.text}", read.end)
    if base := base_of_gerund(following):
        return verb_phrase(words, at + 1, base, shown=following, opening=f"{opening} ")
    if (read := _brief_clause(words, at)) is not None:
        return read
    if following == "not" or is_participle(following) or following in ADJECTIVES:
        said = be_phrase(words, at + 2) if following == "not" else be_phrase(words, at + 1)
        begun = at + 2 if following == "not" else at + 1
        if said and said.end == len(words) and row(words, begun) == begun + 1:
            return Read(f"{opening} {'not ' if following == 'not' else ''}{said.text}", said.end)
    return _left_out(words, at)


def _brief_clause(words: list[str], at: int) -> Read | None:
    """`when dialog opens`: its last word is the verb, though it could be a plural elsewhere."""
    if len(words) - at < 3 or base_of_third(words[-1]) is None or (words[at + 1] == "no" and is_noun(words[-1])):
        return None
    thing = noun_phrase(words[:-1], at + 1)
    if thing is None or thing.plural or thing.end != len(words) - 1:
        return None
    return Read(f"{words[at]} {thing.text} {words[-1]}", len(words))


def _left_out(words: list[str], at: int) -> Read | None:
    thing = noun_phrase(words, at + 1)
    if thing is None:
        return None
    verb = "are" if thing.plural else "is"
    if thing.end == len(words) and words[at + 1] == "no":
        return Read(f"{words[at]} there {verb} {thing.text}", thing.end)
    if (
        words[thing.end : thing.end + 1] == ["not"]
        and thing.end + 1 < len(words)
        and is_participle(words[thing.end + 1])
    ):
        rest = complement(words, thing.end + 2)
        said = f"{words[at]} {thing.text} {verb} not {words[thing.end + 1]}"
        return rest and Read(f"{said} {rest.text}".strip(), rest.end)
    if words[thing.end : thing.end + 1] == ["based"]:
        return None  # `after proxy based on list`: no act is left out
    if thing.end < len(words) and (is_participle(words[thing.end]) or words[thing.end] in ADJECTIVES):
        rest = complement(words, thing.end + 1)
        if words[thing.end] in _PAST:
            verb = ""
        parts = [words[at], thing.text, verb, words[thing.end], rest.text] if rest else []
        return Read(" ".join(part for part in parts if part), rest.end) if rest else None
    return None
