"""Configuration files of JavaScript runners: which files configure, and what they hold."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from testlist.languages import language_of
from testlist.model import Facts
from testlist.project import Project, folder_of, joined

#: folders of projects that tests are tried on
DATA: Final = frozenset({"fixture", "fixtures", "__fixtures__", "test-fixtures", "testdata"})
#: configuration files of a fixed name -> their format
FORMATS: Final = {
    "package.json": "package.json",
    "bunfig.toml": "bunfig",
    ".borp.yaml": "flat-yaml",
    ".borp.yml": "flat-yaml",
    "cypress.json": "jsonc",
    "tsconfig.json": "jsonc",
    "tsconfig.base.json": "jsonc",
    "jsconfig.json": "jsonc",
    "deno.json": "jsonc",
    "deno.jsonc": "jsonc",
    "jasmine.json": "jsonc",
    "jasmine.js": "javascript-config",
    "jasmine.mjs": "javascript-config",
    "jasmine.cjs": "javascript-config",
    "jasmine-browser.json": "jsonc",
    "jasmine-browser.js": "javascript-config",
    "jasmine-browser.mjs": "javascript-config",
    "jasmine-browser.cjs": "javascript-config",
    ".taprc": "flat-yaml",
    "mocha.opts": "words",
}
CONFIG_STEMS: Final = (
    "playwright.config",
    "jest.config",
    "vitest.config",
    "vitest.workspace",
    "vitest.projects",
    "vite.config",
    "cypress.config",
    "ava.config",
    ".mocharc",
)
#: beginnings of names that what a configuration is built on often has
BASES: Final = ("jest.", "jest-preset.", "vitest.", "vite.", "playwright.")
#: what each of these stems has, and each name that is a variant of one: nearly all files are told by it
SPEAKING: Final = re.compile(r"config|jest|mocharc|vite|playwright")


@lru_cache(maxsize=64)  # every runner asks, one after the other
def format_of(path: str) -> str | None:
    """Format of a file that may configure a runner; None for any other."""
    name = path.rpartition("/")[2]
    if name in FORMATS:
        return FORMATS[name]
    if SPEAKING.search(name) is None:
        return None
    suffix = name.rpartition(".")[2]
    if not name.startswith(BASES) and not any(name.startswith(stem) or is_variant(name, stem) for stem in CONFIG_STEMS):
        return None
    if suffix in ("json", "jsonc"):
        return "jsonc"
    if suffix in ("yml", "yaml"):
        return "flat-yaml"
    language = language_of(path)
    return f"{language}-config" if language in ("javascript", "typescript") else None


def table(value: Any) -> dict[str, Any]:
    """A table, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def configs(project: Project, stem: str) -> Iterable[tuple[str, Any]]:
    """Paths and contents of configuration files of such a name, shallowest first; variants if a script names them."""
    return (
        (path, whole(project, path))
        for path, name in project.once(configuring)
        if name.startswith(stem) or (is_variant(name, stem) and name in project.once(started_with))
    )


def configuring(project: Project) -> tuple[tuple[str, str], ...]:
    """Paths and names of all files that configure, shallowest first."""
    found = sorted((path.count("/"), path) for path in project.configs if not is_data(path))
    return tuple((path, path.rpartition("/")[2]) for _, path in found)


def whole(project: Project, path: str, steps: int = 4) -> Any:
    """What a configuration file holds, over what the files hold that it is built on."""
    data = project.data(path)
    based = bases(path, project.configs.get(path, {}), project.configs) if steps else ()
    tables = [table(taken(project, base, name, steps - 1)) for base, name in based]
    return merged([*tables, data]) if any(tables) and isinstance(data, dict | None) else data


def taken(project: Project, path: str, name: str, steps: int) -> Any:
    """What a file offers under a name; all that it holds if it offers nothing of the kind."""
    offers = table(project.configs[path].get("offers"))
    return offers[name] if name in offers else whole(project, path, steps)


def bases(path: str, facts: Facts, known: Collection[str]) -> Iterable[tuple[str, str]]:
    """Files that a configuration is built on, each with the name of what it takes from there."""
    for module, name in facts.get("bases", ()):
        target = joined(folder_of(path), module)
        found = (f"{target}{ending}" for ending in ("", ".js", ".cjs", ".mjs", ".ts", ".mts", ".json"))
        yield from [(one, name) for one in found if one in known and one != path][:1]


def merged(parts: Iterable[Any]) -> dict[str, Any]:
    """One table of several: later ones win, one level down too."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in table(part).items():
            known = whole.get(key)
            whole[key] = known | value if isinstance(known, dict) and isinstance(value, dict) else value
    return whole


def is_variant(name: str, stem: str) -> bool:
    """Whether a file is called like a second configuration: `vitest.unit.config.ts`, `jest-e2e.json`."""
    runner, _, config = stem.partition(".")
    words = name.replace("-", ".").split(".")
    if config != "config" or runner not in words:
        return False
    return "config" in words[-2:-1] or (words[0] == runner == "jest" and words[-1] == "json")


def started_with(project: Project) -> frozenset[str]:
    """Names of files that scripts give to programs."""
    tables = [table(table(project.data(path)).get("scripts")) for path in manifests(project)]
    words = " ".join(text for one in tables for text in one.values() if isinstance(text, str))
    return frozenset(word.rpartition("/")[2] for word in words.replace("=", " ").split())


def manifests(project: Project) -> Sequence[str]:
    """Every package.json that configures, shallowest first."""
    return project.once(_manifests)


def _manifests(project: Project) -> tuple[str, ...]:
    return tuple(path for path, name in project.once(configuring) if name == "package.json")


def packaged(project: Project) -> dict[str, str]:
    """Name of every package of the repository -> its folder."""
    named = ((table(project.data(path)).get("name"), folder_of(path)) for path in manifests(project))
    return {name: folder for name, folder in named if isinstance(name, str)}


def is_data(path: str) -> bool:
    """Whether a file is material of tests: what it configures is no test of this repository."""
    return not DATA.isdisjoint(path.split("/")[:-1])
