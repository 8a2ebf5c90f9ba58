"""Cargo.toml: which files are crates, and whose tests cargo runs."""

import tomllib
from collections.abc import Iterator
from typing import Any, Final

from testlist.model import Facts

#: what a target may say of itself
TARGET: Final = ("name", "path", "test", "harness")
PACKAGE: Final = ("name", "autotests", "autobins", "autobenches", "autoexamples")
#: `[target.CONDITION.dependencies]` is the deepest table of interest
DEPTH: Final = 2
KINDS: Final = ("bin", "test", "bench", "example")


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one manifest: {"data": {"package", "lib", "bin", "test", "bench", "example", "workspace", "features", ...}}.

    asks: (package, features) that its dependencies are wanted with; renamed: dependency -> its package's name.
    needs: dependencies, as code calls them.
    """
    document = tomllib.loads(source.decode())
    data: dict[str, Any] = {
        "package": _part(document.get("package"), PACKAGE),
        "lib": _part(document.get("lib"), TARGET),
    }
    for kind in KINDS:
        targets = document.get(kind)
        data[kind] = [_part(one, TARGET) for one in targets] if isinstance(targets, list) else []
    workspace = document.get("workspace")
    features = document.get("features")
    data["features"] = {key: _strings(values) for key, values in features.items()} if isinstance(features, dict) else {}
    found = list(_dependencies(document, 0))
    data["paths"] = sorted({one["path"] for _, one in found if isinstance(one.get("path"), str)})
    data["asks"] = sorted(
        [_package(key, one), wanted] for key, one in found if (wanted := _strings(one.get("features")))
    )
    data["renamed"] = {key: _package(key, one) for key, one in found if _package(key, one) != key}
    data["needs"] = sorted(set(_needed(document)))
    if isinstance(workspace, dict):
        data["workspace"] = {key: _strings(workspace.get(key)) for key in ("members", "exclude")}
    return {"data": data}


def _dependencies(table: dict[str, Any], depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Dependencies that are more than a version, in any of the tables."""
    for key, value in table.items():
        if not isinstance(value, dict) or depth > DEPTH:
            continue
        if key.endswith("dependencies"):
            yield from ((name, one) for name, one in value.items() if isinstance(one, dict))
        elif key in ("target", "workspace") or depth:
            yield from _dependencies(value, depth + 1)


def _needed(table: dict[str, Any]) -> Iterator[str]:
    """Names of a package's dependencies, whatever platform they are for."""
    tables = [table, *(table["target"].values() if isinstance(table.get("target"), dict) else ())]
    for one in tables:
        for key, value in one.items() if isinstance(one, dict) else ():
            if key in ("dependencies", "dev-dependencies", "build-dependencies") and isinstance(value, dict):
                yield from value


def _package(key: str, dependency: dict[str, Any]) -> str:
    """Name of a dependency's package."""
    name = dependency.get("package")
    return name if isinstance(name, str) else key


def _part(table: Any, keys: tuple[str, ...]) -> dict[str, Any] | None:
    if not isinstance(table, dict):
        return None
    required = {"required-features": _strings(table["required-features"])} if "required-features" in table else {}
    return {key: table[key] for key in keys if isinstance(table.get(key), str | bool)} | required


def _strings(values: Any) -> list[str]:
    return [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
