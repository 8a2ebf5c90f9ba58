"""Write strangers' text in Markdown so that none of its characters has a special meaning."""

from __future__ import annotations

import re

from app.web.core.visible_text import visible

# in addition to CommonMark's: GitHub's @names, formulas and bare addresses
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&@$]|:(?=//))")


def quoted(text: str) -> str:
    """Put it on one line, with every special character escaped."""
    return _SPECIAL.sub(r"\\\1", visible(text))
