"""A name of any style as words: snake_case, camelCase, PascalCase and sentences, with code kept as it is."""

from __future__ import annotations

import re
import unicodedata

from app.specview.acronyms import ACRONYMS

#: longer names are cut between words; few readers read further, and the page links to the test
LONGEST = 400
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_CODE = re.compile(r"[_#]|::|^:[a-z]|\(\)$|^\.|[a-z]\.[A-Za-z]|[a-z][A-Z]|[A-Z]{2,}[a-z]")
_CAMEL = re.compile(
    r"(?:OAuth|IPv|GraphQL|PostgreS(?:QL|ql)|MyS(?:QL|ql)|SQLite|GitHub|GitLab|JavaScript|TypeScript)[0-9]*(?![a-z])|"
    r"[A-Z]{2,}s(?![a-z])"  # IDs
    r"|[A-Z]+[0-9]*(?=[A-Z][a-z]|$|[^A-Za-z0-9])"  # HTTP in HTTPServer
    r"|[A-Z]?[a-z]+[0-9]*s?(?![a-z])|[A-Z]?[a-z]+"
    r"|[A-Z]+[0-9]*|[0-9]+[A-Za-z]*|[^A-Za-z0-9]+"
)
#: a number after a preposition: `On404`
_COUNTED = re.compile(r"(?:(?<=[a-z]On)|(?<=[a-z]For)|(?<=[a-z]With)|(?<=[a-z]After)|(?<=[a-z]From))(?=[0-9])")
_MIXED = re.compile(r"[A-Z]+[a-z]+[A-Z]|IPv")
_NUMBERED = re.compile(r"(?!(?:u?int|float|utf|base|sha|md|http|ipv|es)[0-9])[a-z]+[0-9]+")
_DUNDER = re.compile(r"(__[a-z]+__)(?=_|$)")
_TITLE_WORDS = re.compile(r"`[^`]*`\S*|\"[^\"]*\"\S*|(?<!\w)'[^']*'\S*|\S+")
_DASHES = ("-", "\u2013", "\u2014")
_PLAIN = re.compile(r"[A-Za-z]?[a-z]*(?:['\u2019-][a-z]+)*")


def clean(text: str) -> str:
    """One line without control and direction marks, at most LONGEST characters."""
    kept = text[: LONGEST * 4]
    if not kept.isprintable():
        kept = "".join(" " if _hidden(letter) else letter for letter in kept)
    line = " ".join(kept.split())
    if len(line) <= LONGEST and len(text) <= LONGEST * 4:
        return line
    cut = line[: LONGEST - 1]
    at = cut.rfind(" ")
    return f"{cut[:at] if at > LONGEST // 2 else cut}…"


def _hidden(letter: str) -> bool:
    return (not letter.isascii() and unicodedata.category(letter)[0] == "C") or letter < " " or letter == "\x7f"


def split_identifier(name: str, *, symbols: bool = False) -> list[str]:
    """Words of an identifier, in lower case, but for acronyms and for code within snake_case.

    symbols: whether a part with an inner capital is a symbol even when it is alone: `test_AsyncResult`.
    """
    parts: list[str] = []
    if not _DUNDER.search(name):  # two underscores part what does not belong together
        name = re.sub(r"(?<=[A-Za-z0-9])__(?=[A-Za-z0-9])", ":_", name)
    for piece in _DUNDER.split(name):
        if _DUNDER.fullmatch(piece):
            parts.append(piece)
        else:
            parts += [part for part in re.split(r"[_\s]+", piece) if part]
    snake = symbols or (len(parts) > 1 and any(part.islower() and part.isalpha() for part in parts))
    words: list[str] = []
    for part in parts:
        bare = part.rstrip(":")
        if not bare.isascii():
            words.append(bare)
        elif part.startswith("__") or (snake and not bare.islower()):
            words.append(_spelt(bare) if bare.isupper() else bare)
        else:
            words += [_spelt(found) for found in _CAMEL.findall(_COUNTED.sub("_", bare)) if found.strip("-.:_")]
        if part.endswith(":") and words:
            words[-1] += ":"
    return words


def _spelt(word: str) -> str:
    """A word in the form of a sentence: acronyms in capitals, other words in lower case."""
    known = ACRONYMS.get(word.lower())
    if known:
        return known
    written = _MIXED.match(word) or (len(word.rstrip("s0123456789")) > 1 and word.rstrip("s0123456789").isupper())
    return word if written else word.lower()


def split_title(title: str) -> list[str]:
    """Words of a sentence; a text in quotation marks is one word."""
    return _TITLE_WORDS.findall(title)


def is_identifier(name: str) -> bool:
    """Whether a name is one identifier, not words of a sentence."""
    return _IDENTIFIER.fullmatch(name) is not None


def is_code(word: str) -> bool:
    """Whether a word stands for itself: a symbol, a number, an acronym, or something with signs in it."""
    return _PLAIN.fullmatch(word) is None


def is_numbered(word: str) -> bool:
    """`ext7`, `re3`: a word with a number that distinguishes one of many, and no known name such as `UTF8`."""
    return _NUMBERED.fullmatch(word) is not None


def looks_like_code(text: str) -> bool:
    """Whether a title names something of the program: `#run`, `Core::Filter`, `toJSON`, `parse()`, `snake_case`."""
    if " " in text.strip():
        return False
    return _CODE.search(text) is not None


def noted(words: list[str]) -> tuple[list[str], list[str]]:
    """Words, and separately the text in parentheses or after a dash at the end."""
    at = next((at for at, word in enumerate(words) if at and word in _DASHES), len(words))
    if words[at + 1 :] and not any("(" in word for word in words):
        return words[:at], f"({' '.join(words[at + 1 :])})".split(" ")
    if words and words[-1].endswith(")"):
        for at in range(len(words) - 1, -1, -1):
            if words[at].startswith("("):
                return words[:at], words[at:]
    return words, []
