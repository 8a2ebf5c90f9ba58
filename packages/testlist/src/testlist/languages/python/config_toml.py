"""TOML that configures pytest: its table, and the commands in which a file speaks of unittest.

It also keeps what concerns the runners of feature files.
"""

import re
import tomllib
from typing import Any, Final

from testlist.kit.formats import plain
from testlist.model import Facts

#: packages of such runners, as requirements and tables of them write them
SPOKEN_OF: Final = re.compile(r"\b(?:behave|pytest[-_]bdd)\b")


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read it: {"data": {"pytest": ..., "commands": [...], "behave": ..., "speaks_of": [...]}}.

    Raises: ValueError for broken files.
    """
    text = source.decode()
    document = tomllib.loads(text)
    commands = [line.strip() for line in text.splitlines() if "unittest" in line]
    tool = document.get("tool")
    parts = {
        "commands": commands,
        "behave": plain(tool.get("behave")) if isinstance(tool, dict) else None,
        "speaks_of": sorted(set(SPOKEN_OF.findall(text))),
    }
    return {"data": {"pytest": _table(document), **{key: value for key, value in parts.items() if value}}}


def _table(document: dict[str, Any]) -> Any:
    """`[tool.pytest.ini_options]`, or `[tool.pytest]` / `[pytest]`, the native forms of pytest 9."""
    tool = document.get("tool")
    table = tool.get("pytest") if isinstance(tool, dict) else None
    if isinstance(table, dict):
        return plain(table.get("ini_options", table))
    return plain(document.get("pytest"))
