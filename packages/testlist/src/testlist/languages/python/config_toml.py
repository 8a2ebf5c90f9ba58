"""TOML that configures pytest: its table, and the commands in which a file speaks of unittest."""

import tomllib
from typing import Any

from testlist.kit.formats import plain
from testlist.model import Facts


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read it: {"data": {"pytest": ..., "commands": [...]}}.  Raises: ValueError for broken files."""
    text = source.decode()
    commands = [line.strip() for line in text.splitlines() if "unittest" in line]
    return {"data": {"pytest": _table(tomllib.loads(text)), **({"commands": commands} if commands else {})}}


def _table(document: dict[str, Any]) -> Any:
    """`[tool.pytest.ini_options]`, or `[tool.pytest]` / `[pytest]`, the native forms of pytest 9."""
    tool = document.get("tool")
    table = tool.get("pytest") if isinstance(tool, dict) else None
    if isinstance(table, dict):
        return plain(table.get("ini_options", table))
    return plain(document.get("pytest"))
