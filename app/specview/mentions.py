"""Write a name that states nothing: its own words as a label, else the name quoted."""

from __future__ import annotations

import re

from app.specview import articles, phrases
from app.specview.labels import label
from app.specview.lexicon import SUBORDINATORS
from app.specview.listed import listed
from app.specview.methods import verb_at
from app.specview.predicates import is_http_method
from app.specview.titles import Title
from app.specview.words import looks_like_code, noted

_NOT_ALONE = listed("nothing everything something none null nil true false undefined zero test spec it")
#: names of callbacks and conversions are shown as code: `on_close`, `to_json`, `as_dict`, `is_valid`
_SYMBOL_OPENINGS = listed("before after on to from as is has in by at of for and or")
_FOREIGN = re.compile(r"[^\x00-\u024f\u2000-\u2bff]")


def mention(words: list[str], title: Title) -> str | None:
    """The name as a label or as a condition; None if its words have the shape of neither."""
    if _FOREIGN.search(title.text) or (title.titled and looks_like_code(title.text)):
        return None
    if title.identifier and verb_at(words):
        return None
    words, note = noted(words)
    if words and not title.identifier:
        words = [*words[:-1], words[-1].rstrip(".") or words[-1]]
    if not words or (len(words) == 1 and words[0] in _NOT_ALONE):
        return None
    said = label(words, identifier=title.identifier, things=title.things)
    if said is None and len(words) == 2 and is_http_method(words, 0):
        said = " ".join(words)
    if said is None and words[0] in SUBORDINATORS and not title.identifier:
        said = _condition(words)
    if said is None:
        return None
    return " ".join([said[:1].upper() + said[1:] if title.identifier else said, *note])


def quoted(words: list[str], title: Title) -> str:
    """The name itself, as code or in quotation marks."""
    if (title.titled and looks_like_code(title.text)) or (title.identifier and _is_symbol(words, title.text)):
        return code(title.text)
    text = " ".join(words) if title.identifier else title.text
    return f"the case “{text}”" if text else "a test without a name"


def code(text: str) -> str:
    """A name of the program, marked as such."""
    return text if "`" in text else f"`{text}`"


def _is_symbol(words: list[str], text: str) -> bool:
    return text.isascii() and (len(words) < 2 or "_" not in text or words[0] in _SYMBOL_OPENINGS)


def _condition(words: list[str]) -> str | None:
    """`when session is gone`: when the session is gone."""
    if articles.is_full(words):
        return articles.with_articles(words)
    read = phrases.complement(words, 0)
    return read and read.text
