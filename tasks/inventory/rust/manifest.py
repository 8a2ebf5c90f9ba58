"""Cargo.toml: which files are crates, and whose tests cargo runs."""

import tomllib
from collections.abc import Iterator
from typing import Any, Final

from tasks.inventory.model import Facts

#: what a target may say of itself
TARGET: Final = ("name", "path", "test", "harness")
PACKAGE: Final = ("name", "autotests", "autobins", "autobenches", "autoexamples")
#: `[target.CONDITION.dependencies]` is the deepest table of interest
DEPTH: Final = 2
KINDS: Final = ("bin", "test", "bench", "example")


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one manifest: {"data": {"package", "lib", "bin", "test", "bench", "example", "workspace"}}."""
    document = tomllib.loads(source.decode())
    data: dict[str, Any] = {
        "package": _part(document.get("package"), PACKAGE),
        "lib": _part(document.get("lib"), TARGET),
    }
    for kind in KINDS:
        targets = document.get(kind)
        data[kind] = [_part(one, TARGET) for one in targets] if isinstance(targets, list) else []
    workspace = document.get("workspace")
    data["paths"] = sorted(set(_paths(document, 0)))
    if isinstance(workspace, dict):
        data["workspace"] = {key: _strings(workspace.get(key)) for key in ("members", "exclude")}
    return {"data": data}


def _paths(table: dict[str, Any], depth: int) -> Iterator[str]:
    """Folders of packages that dependencies name, in any of their tables."""
    for key, value in table.items():
        if not isinstance(value, dict) or depth > DEPTH:
            continue
        if key.endswith("dependencies"):
            yield from (
                one["path"] for one in value.values() if isinstance(one, dict) and isinstance(one.get("path"), str)
            )
        elif key in ("target", "workspace") or depth:
            yield from _paths(value, depth + 1)


def _part(table: Any, keys: tuple[str, ...]) -> dict[str, Any] | None:
    if not isinstance(table, dict):
        return None
    return {key: table[key] for key in keys if isinstance(table.get(key), str | bool)}


def _strings(values: Any) -> list[str]:
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
