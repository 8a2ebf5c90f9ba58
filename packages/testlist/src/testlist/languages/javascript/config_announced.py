"""The runners that a package speaks of: its dependencies, its scripts and the configurations beside it."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from testlist.languages.javascript.vocabulary_modules import ANNOUNCING
from testlist.project import Project, folder_of

#: what a script starts -> the runner that it announces
PROGRAMS: Final = {
    "node:test": re.compile(r"\s--test(?:[\s=-]|$)|\bborp\b"),
    "bun:test": re.compile(r"\bbun\s+test\b"),
    "deno": re.compile(r"\bdeno\s+test\b"),
}


@dataclass(slots=True)
class Announced:
    """Runners by folder, for all runners of one repository."""

    project: Project
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    def around(self, folder: str) -> frozenset[str]:
        """Runners that the nearest folder speaks of which speaks of any, in its package or by a configuration."""
        if folder not in self.known:
            data = self.project.data(f"{folder}/package.json" if folder else "package.json")
            beside = self.project.once(configured).get(folder, frozenset())
            found = ANNOUNCING & dependencies(data) | started(data) | beside
            self.known[folder] = found or (self.around(folder_of(folder)) if folder else frozenset())
        return self.known[folder]


def configured(project: Project) -> dict[str, frozenset[str]]:
    """Folder -> runners with a configuration file in it."""
    found: dict[str, frozenset[str]] = {}
    for path in project.configs:
        stem = path.rpartition("/")[2].lstrip(".").partition(".")[0].removesuffix("rc")
        if stem in ANNOUNCING or stem == "deno":
            found[folder_of(path)] = found.get(folder_of(path), frozenset()) | {stem}
    return found


def started(data: Any) -> frozenset[str]:
    """Runners without a package of their own that the scripts of a package.json start."""
    scripts = data.get("scripts") if isinstance(data, dict) else None
    texts = [text for text in scripts.values() if isinstance(text, str)] if isinstance(scripts, dict) else []
    return frozenset(name for name, mark in PROGRAMS.items() if any(mark.search(text) for text in texts))


def dependencies(data: Any) -> frozenset[str]:
    """Packages that a package.json asks for."""
    tables = [data.get(key) for key in ("dependencies", "devDependencies")] if isinstance(data, dict) else []
    return frozenset(name for table in tables if isinstance(table, dict) for name in table)
