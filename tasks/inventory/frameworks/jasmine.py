"""Jasmine: calls of it, fit and xit; files by spec_dir and spec_files of its configuration, or as scripts give them."""

from collections.abc import Iterator
from typing import Any, Final

from tasks.inventory.javascript.configfiles import configs, manifests, table
from tasks.inventory.javascript.names import jasmine
from tasks.inventory.javascript.runner import Area, Runner, RunnerFramework, strings
from tasks.inventory.javascript.scripts import commands, files, operands
from tasks.inventory.project import Project, folder_of, joined

FILES: Final = ("**/*[sS]pec.?(m)js",)
VALUED: Final = frozenset({"--config", "--filter", "--filter-path", "--helper", "--require", "--reporter", "--seed"})


def areas(project: Project) -> Iterator[Area]:
    """Every configuration, and every script that names files."""
    for name in ("jasmine.json", "jasmine.js", "jasmine.mjs", "jasmine.cjs"):
        for path, data in configs(project, name):
            yield configured(base_of(path), table(data))
    for path in manifests(project):
        for words in commands(table(project.data(path)).get("scripts"), "jasmine"):
            if given := [one for one in operands(words, VALUED) if "/" in one or "." in one]:
                folder = folder_of(path)
                patterns = tuple(joined(folder, pattern) for one in given for pattern in files(one))
                yield Area(folder, patterns)


def base_of(path: str) -> str:
    """The folder a configuration sees its own from: that of `spec/support/jasmine.json` lies two above it."""
    folder = folder_of(path)
    return folder_of(folder_of(folder)) if folder.rpartition("/")[2] == "support" else folder


def configured(folder: str, data: dict[str, Any]) -> Area:
    """Patterns below the folder of specs; those with an exclamation mark leave out."""
    base = joined(folder, next(iter(strings(data.get("spec_dir"))), "spec"))
    patterns = strings(data.get("spec_files")) or list(FILES)
    include = tuple(joined(base, one) for one in patterns if one[:1] != "!")
    return Area(folder, include, tuple(joined(base, one[1:]) for one in patterns if one[:1] == "!"))


JASMINE: Final = RunnerFramework(
    Runner(
        name="jasmine",
        modules=frozenset({"jasmine"}),
        packages=frozenset({"jasmine", "jasmine-core", "karma"}),
        uses=frozenset({"jasmine"}),
        usual=jasmine,
    ),
    areas,
)
