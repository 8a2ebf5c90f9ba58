"""Plain configuration formats, as data: TOML, INI, JSON."""

import configparser
import json
import tomllib
from typing import Any, Final

from tasks.inventory.model import Facts

#: the parts of package.json that say something about tests
PACKAGE_KEYS: Final = ("jest", "vitest", "mocha", "scripts", "dependencies", "devDependencies", "workspaces", "type")


def extract(source: bytes, language: str) -> Facts:
    """Read a configuration file: {"data": ...}.  Raises: ValueError and its kin for broken files."""
    text = source.decode()
    if language == "toml":
        tool = tomllib.loads(text)
        return {"data": {"pytest": _pytest_table(tool)}}
    if language == "ini":
        return {"data": _sections(text)}
    data = json.loads(text)
    if language == "package.json":
        data = {key: data[key] for key in PACKAGE_KEYS if key in data} if isinstance(data, dict) else {}
    return {"data": data}


def _pytest_table(document: dict[str, Any]) -> Any:
    """`[tool.pytest.ini_options]`, or `[tool.pytest]` / `[pytest]`, the native forms of pytest 9."""
    tool = document.get("tool")
    table = tool.get("pytest") if isinstance(tool, dict) else None
    if isinstance(table, dict):
        return _plain(table.get("ini_options", table))
    return _plain(document.get("pytest"))


def _plain(value: Any) -> Any:
    """Dates and times become text: facts are JSON."""
    return json.loads(json.dumps(value, default=str))


def _sections(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {name: {key: value or "" for key, value in parser.items(name)} for name in parser.sections()}
