"""The blocks of a page, which tests run as a reader would."""

from __future__ import annotations

import re

from tests.nodes import ROOT


def blocks(page: str, heading: str) -> list[str]:
    """The blocks below a heading of the second level, in their order."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    [section] = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^```\w*\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def statements(block: str, **replaced: str) -> list[str]:
    """The statements of a block of SQL.  replaced: the password of each role in place of `…`."""
    for word, value in replaced.items():
        block = re.sub(rf"(\b{word}\b[^;]* PASSWORD) '…'", rf"\1 '{value}'", block)
    assert "…" not in block, block
    return [one.strip() for one in re.split(r";(?:\s*--[^\n]*)?\n", block) if one.strip()]
