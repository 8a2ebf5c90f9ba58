"""One English sentence about a test: what its name says and nothing more."""

from __future__ import annotations

from app.specview import articles, phrases
from app.specview.acronyms import ACRONYMS
from app.specview.doubts import has_doubtful_article, has_verb, is_doubtful, lacks_article
from app.specview.forms import base_of_third, is_participle, third_person
from app.specview.lexicon import ADJECTIVES, AUXILIARIES, BE, DETERMINERS, MODALS, PREPOSITIONS, SUBORDINATORS
from app.specview.listed import listed
from app.specview.mentions import code, mention, quoted
from app.specview.methods import about_method, is_method
from app.specview.nouns import is_inverted, row
from app.specview.predicates import Predicate, predicate, spelt_words
from app.specview.scenarios import scenario
from app.specview.titles import Title
from app.specview.verbs import INDEFINITE, MOSTLY_VERBS, NOUNS_TOO, PARTS, VERBS
from app.specview.words import is_code, noted, split_title

_HTTP_METHODS = listed("get head post put patch delete")
_KINDS = {"example": "Shows an example of", "benchmark": "Measures", "fuzz": "Tries random input on"}


def sentence(title: Title) -> str:
    """A sentence with its capital and its period."""
    if title.kind != "test":
        return _of_symbol(title)
    words = spelt_words(title)
    said = scenario(title) or _predicate(words, title) or _statement(words, title)
    return finished(said + _row(title, " for") if said else _mentioned(words, title))


def finished(text: str) -> str:
    """Finish a sentence: a capital, if the first word is an ordinary one, and one final sign."""
    text = " ".join(text.split()).rstrip(".:;, ")
    first = text.split(" ", 1)[0]
    if first in ACRONYMS and first.islower():
        text = ACRONYMS[first] + text[len(first) :]
    elif first[:1].islower() and not is_code(first.strip(",:")):
        text = text[:1].upper() + text[1:]
    ended = text.endswith(("!", "?", "…")) and text[-2:-1].isalpha() and not is_code(text.rsplit(" ", 1)[-1][:-1])
    return text if ended else f"{text}."


def _of_symbol(title: Title) -> str:
    """Examples of Go are named after what they show: `ExampleBuffer_Cap` is of Buffer.Cap."""
    symbol, *rest = title.text.split("_") if title.kind == "example" else [title.text]
    if rest and rest[0][:1].isupper():
        symbol, rest = f"{symbol}.{rest[0]}", rest[1:]
    note = f" ({' '.join(rest)})" if rest else ""
    return f"{_KINDS[title.kind]} `{symbol}`{note}{_row(title, ' for')}."


def _row(title: Title, joint: str) -> str:
    """The row of a table or the subtest, in its own words."""
    return f"{joint} “{title.case}”" if title.case else ""


def _predicate(words: list[str], title: Title) -> str | None:
    """The predicate that the name states, of the thing that the suites name, under their conditions."""
    if title.identifier and is_method(words):
        return None
    about = title.about
    if words and words[0].lower() not in MODALS and (colon := _after_colon(words)):
        about, words = " ".join(words[:colon]).rstrip(":"), words[colon:]
    read = predicate(words, identifier=title.identifier)
    if read is None:
        return None
    rest = _rest(read, strict=title.identifier or (read.conjugated and words[0] in VERBS))
    if rest is None:
        return None
    said = f"{read.verb} {rest}".strip()
    conditions = _conditions(title.contexts)
    if title.thing and not title.identifier:
        said = f"{code(title.thing)} {said}"
    elif conditions or read.verb.split(" ", 1)[0] in MODALS:
        said = f"it {said}"
    return f"{conditions}, {said}" if conditions else said + _about(about, said)


def _after_colon(words: list[str]) -> int:
    """Find where a predicate follows a title: `array outputs: should ignore …`; 0: nowhere."""
    for at, word in enumerate(words[:-1]):
        if word.endswith(":") and words[at + 1] in ("should", "does", "returns", "throws", "must"):
            return at + 1
    return 0


def _rest(read: Predicate, *, strict: bool) -> str | None:
    """The words after the verb, with articles where the name is a telegram; strict: nothing where it cannot be read."""
    rest, note = noted(list(read.rest))
    parts: list[str] = []
    for joint, base, verb, after in _coordinated(read, rest):
        said = _after_verb(base, after, strict=strict, telegram=read.conjugated)
        if said is None:
            return None
        parts += [part for part in (joint, verb if joint else "", said) if part]
    return " ".join([*parts, *note])


def _after_verb(base: str, rest: list[str], *, strict: bool, telegram: bool) -> str | None:
    first = "a" if base in INDEFINITE else "the"
    if not rest or articles.is_full(rest):
        return articles.articled(rest, object_first=base != "be" and (telegram or lacks_article(rest)), first=first)
    found = phrases.verb_phrase([base or "do", *rest], 0, base)
    if found and not (strict and _piled(rest)):
        return " ".join(rest) if has_doubtful_article(rest) else found.text.partition(" ")[2]
    if is_doubtful(base, rest):
        return None
    if strict or (telegram and rest[0] in BE | AUXILIARIES) or (telegram and is_inverted(rest[: row(rest, 0)])):
        return None
    return articles.articled(rest, object_first=base != "be", first=first)


def _piled(rest: list[str]) -> bool:
    """`strip auth host change`: three nouns in a row may as well be parts of other words."""
    return row(rest, 0) > 2 and rest[0] not in DETERMINERS and rest[0] not in ADJECTIVES and not is_participle(rest[0])


def _coordinated(read: Predicate, rest: list[str]) -> list[tuple[str, str, str, list[str]]]:
    """The verbs after `should`, each with what joins it, its form and what follows: `… and updates the page`."""
    parts: list[tuple[str, str, str, list[str]]] = [("", read.base, read.verb, [])]
    at = 0
    while at < len(rest):
        verb = rest[at + 1] if at + 1 < len(rest) else ""
        base = verb if read.conjugated else base_of_third(verb) or ""
        again = rest[at] in ("and", "or", "&") and base in VERBS and (at == 0 or _acts_again(base, rest[at + 2 :]))
        if again and (read.conjugated or base not in NOUNS_TOO):
            parts.append((rest[at], base, third_person(base), []))
            at += 2
        else:
            parts[-1][3].append(rest[at])
            at += 1
    return parts


def _acts_again(verb: str, after: list[str]) -> bool:
    """Whether a base after `and` is a verb: `and reset state`, not `and retry button`."""
    if not after:
        return verb not in NOUNS_TOO
    if after[0] in PARTS:
        return False
    if after[0] == "to" or verb not in NOUNS_TOO:
        return True
    named = after[0] in PREPOSITIONS or after[0] in ("and", "or")
    return verb in MOSTLY_VERBS and not named


def _about(about: str, said: str) -> str:
    """The innermost suite as a note, where it adds a word."""
    new = {word.lower() for word in about.split()} - {word.lower() for word in said.split()}
    return f" ({about})" if new and not about.startswith("should ") else ""


def _conditions(contexts: tuple[str, ...]) -> str:
    read = [_context(context) for context in contexts]
    openings = {condition.split(" ", 1)[0] for condition in read}
    return (" and " if len(openings) < len(read) and openings <= SUBORDINATORS else ", ").join(read)


def _context(context: str) -> str:
    """Write a suite such as `when …` as a clause before a sentence, quoted if it is no whole condition."""
    words = list(split_title(context.rstrip(",: ")))
    if words[0].lower() == "and" and len(words) > 1:
        words = words[1:]
    words[0] = words[0].lower().rstrip(":")
    if words[0] in SUBORDINATORS and not has_verb(words):
        read = phrases.complement(words, 0)
        return read.text if read else f"in the case “{' '.join(words)}”"
    return articles.with_articles(words)


def _statement(words: list[str], title: Title) -> str | None:
    """A whole clause: `url generation requires server name`, `external modules should not be hoisted`."""
    if title.identifier and (said := about_method(words, title.text)):
        return said
    if (
        len(words) < 2
        or words[0] in PREPOSITIONS
        or words[0] in SUBORDINATORS
        or words[0] in MODALS
        or words[0] == "not"
        or words[0][0] == "("
    ):
        return None
    if title.identifier and "HTTP" in words and _HTTP_METHODS & set(words):
        return None  # `http_302_changes_head_to_get`: no head, and nothing to get
    words, note = noted(words)
    read = phrases.clause(words, 0) if words else None
    if read is not None and read.end == len(words):
        said = " ".join(words) if has_doubtful_article(words) else read.text
    elif (
        title.identifier
        or not articles.is_full(words)
        or not (BE | MODALS) & set(words)
        or any(":" in word for word in words)
    ):
        return None
    else:
        said = " ".join(words)
    said = " ".join([said, *note])
    if title.contexts:
        return f"{_conditions(title.contexts)}, {said}"
    return said + _about(title.about, said)


def _mentioned(words: list[str], title: Title) -> str:
    """A name that holds no statement: its words as a label, else the name itself."""
    notes = [title.about] if title.about else []
    notes += [_context(context) for context in title.contexts]
    about = mention(words, title)
    if about is None:
        said = f"Covers {quoted(words, title)}" + (f" for {code(title.thing)}" if title.thing else "")
        said += _row(title, " for")
    elif title.thing and ": " not in about:
        said = f"{code(title.thing)}: {about}{_row(title, ',')}"
    else:
        said = about + _row(title, "," if ": " in about else ":")
        notes = [code(title.thing), *notes] if title.thing else notes
    return said + (f" ({'; '.join(notes)})" if notes else "")
