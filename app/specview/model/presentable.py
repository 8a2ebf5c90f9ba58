"""Texts that may be shown on a page: one line of words, without markup, addresses or signs that are not seen."""

from __future__ import annotations

import re

from app.specview.model.prompts import LONGEST_PLACE
from app.specview.model.tongues import touches
from app.specview.model.words import clean

_MARKUP = re.compile(
    r"://|\bwww\.|\b[\w-]+\.(?:com|net|org|io|dev|app|ai|ru|cn|xyz|example)\b|javascript:|mailto:|\]\(|```|\{\{"
    r"|&#?\w+;|<[^<>]*$",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^<>]*>")


def presentable(text: str, longest: int, *, own: str = "") -> bool:
    """Whether a text is neither empty nor too long and has no markup.  own: the name that a `<tag>` may be from."""
    return 0 < len(text) <= longest and not _MARKUP.search(text) and all(tag in own for tag in _TAG.findall(text))


def place_name(text: str, language: str) -> str | None:
    """A domain's or feature's name as it may stand, empty for none; None for one that may not."""
    name = clean(text, LONGEST_PLACE + 1)
    if not name:
        return ""
    honest = presentable(name, LONGEST_PLACE) and any(map(str.isalpha, name)) and len(name.split()) <= 8
    # proper names stay as they are in any language
    return name if honest and (touches(name, language) or (name.isascii() and len(name) <= 10)) else None
