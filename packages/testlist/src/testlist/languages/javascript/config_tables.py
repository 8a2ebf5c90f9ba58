"""package.json and bunfig.toml: the parts that say something about tests."""

import json
import tomllib
from typing import Final

from testlist.kit.formats import plain
from testlist.model import Facts

#: what is kept of package.json
KEYS: Final = frozenset(
    {"name", "imports", "jest", "vitest", "mocha", "ava", "tap", "scripts", "dependencies", "devDependencies",
     "workspaces", "type"}
)  # fmt: skip


def extract(source: bytes, language: str) -> Facts:
    """Read one: {"data": ...}.  Raises: ValueError and its kin for broken files."""
    text = source.decode()
    if language == "bunfig":
        return {"data": plain(tomllib.loads(text).get("test"))}
    data = json.loads(text)
    return {"data": {key: data[key] for key in data if key in KEYS} if isinstance(data, dict) else {}}
