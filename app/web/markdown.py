"""Text of strangers in Markdown: no character of it means anything."""

from __future__ import annotations

import re

from app.web.visible_text import visible

# besides CommonMark's: what GitHub makes of @names, formulas and bare addresses
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&@$]|:(?=//))")


def quoted(text: str) -> str:
    """On one line, every special character escaped."""
    return _SPECIAL.sub(r"\\\1", visible(text))
