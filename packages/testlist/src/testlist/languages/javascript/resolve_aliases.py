"""Imports that are no relative paths and yet mean files of the repository: paths of tsconfig, subpaths, packages."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from testlist.languages.javascript.config_files import packaged, table
from testlist.project import Project, above, folder_of, joined

#: files that say how names are resolved
NAMES: Final = ("tsconfig.json", "tsconfig.base.json", "jsconfig.json")
#: configurations that extend configurations
STEPS: Final = 4
#: folders of a package that its modules may lie in
INSIDE: Final = ("", "src")
Paths = list[tuple[str, str, str]]  # what a module begins and ends with, and the path for it, a star for the rest


@dataclass(slots=True)
class Aliases:
    """What the configurations of one repository say of such imports.  known: by folder."""

    project: Project
    known: dict[str, Paths] = field(default_factory=dict)

    def places(self, path: str, module: str) -> Iterator[str]:
        """Where a module that a file imports may lie, best first, without its suffix."""
        for folder in above(path):
            for head, tail, target in self.declared(folder):
                if module.startswith(head) and module.endswith(tail) and len(module) >= len(head) + len(tail):
                    yield target.replace("*", module[len(head) : len(module) - len(tail)], 1)
        yield from self.members(module)

    def members(self, module: str) -> Iterator[str]:
        """Where a module of a package of the repository may lie."""
        words = module.split("/")
        for taken in (1, 2):
            home = self.project.once(packaged).get("/".join(words[:taken]))
            if home is not None:
                yield from (joined(home, "/".join([inner, *words[taken:]])) for inner in INSIDE)

    def declared(self, folder: str) -> Paths:
        """What the files of one folder say."""
        if folder not in self.known:
            found = [spelt for name in NAMES for spelt in paths(self.project, joined(folder, name), STEPS)]
            imports = table(table(self.project.data(joined(folder, "package.json"))).get("imports"))
            self.known[folder] = [*found, *(_spelt(name, target, folder) for name, target in _targets(imports))]
        return self.known[folder]


def paths(project: Project, path: str, steps: int) -> Paths:
    """`paths` of one tsconfig, or of what it extends."""
    data = table(project.data(path))
    options, home = table(data.get("compilerOptions")), folder_of(path)
    base = joined(home, options["baseUrl"]) if isinstance(options.get("baseUrl"), str) else home
    found = [_spelt(name, target, base) for name, target in _targets(table(options.get("paths")))]
    outer = data.get("extends")
    if not found and steps and isinstance(outer, str) and outer.startswith("."):
        named = joined(home, outer)
        return paths(project, named if named.endswith(".json") else f"{named}.json", steps - 1)
    return found


def _targets(entries: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and the first path of each; under conditions, that of any."""
    for name, given in entries.items():
        values = given if isinstance(given, list) else list(given.values()) if isinstance(given, dict) else [given]
        if (target := next((one for one in values if isinstance(one, str)), None)) is not None:
            yield name, target


def _spelt(name: str, target: str, base: str) -> tuple[str, str, str]:
    head, star, tail = name.partition("*")
    return (head, tail, joined(base, target)) if star else (name, "", joined(base, target))
