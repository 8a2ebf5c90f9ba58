"""Jasmine: calls of it, fit and xit; files by spec_dir and spec_files of its configuration, or as scripts give them."""

from collections.abc import Iterator
from typing import Any, Final

from testlist.languages.javascript.config_compiled import compiled
from testlist.languages.javascript.config_files import configs, manifests, table
from testlist.languages.javascript.config_scripts import commands, files, operands
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.languages.javascript.vocabulary_files import jasmine
from testlist.project import Project, folder_of, joined

FILES: Final = ("**/*[sS]pec.?(m)js",)
VALUED: Final = frozenset({"--config", "--filter", "--filter-path", "--helper", "--require", "--reporter", "--seed"})
#: configurations of Jasmine, and of its runner for browsers, which spells its options in its own way
NAMES: Final = tuple(
    f"{stem}.{suffix}" for stem in ("jasmine", "jasmine-browser") for suffix in ("json", "js", "mjs", "cjs")
)


def areas(project: Project) -> Iterator[Area]:
    """Every configuration, and every script that names files."""
    for name in NAMES:
        for path, data in configs(project, name):
            yield configured(project, base_of(path), table(data))
    for path in manifests(project):
        for words in commands(table(project.data(path)).get("scripts"), "jasmine"):
            if given := [one for one in operands(words, VALUED) if "/" in one or "." in one]:
                folder = folder_of(path)
                yield Area(folder, compiled(project, folder, [pattern for one in given for pattern in files(one)]))


def base_of(path: str) -> str:
    """The folder a configuration sees its own from: that of `spec/support/jasmine.json` lies two above it."""
    folder = folder_of(path)
    return folder_of(folder_of(folder)) if folder.rpartition("/")[2] == "support" else folder


def configured(project: Project, folder: str, data: dict[str, Any]) -> Area:
    """Patterns below the folder of specs, of helpers too: a spec in one is run. An exclamation mark leaves out."""
    base = next(iter(strings([data.get("spec_dir"), data.get("specDir")])), "spec")
    patterns = strings(data.get("spec_files")) or strings(data.get("specFiles")) or list(FILES)
    patterns = [*patterns, *strings(data.get("helpers"))]
    include = compiled(project, folder, [f"{base}/{one}" for one in patterns if one[:1] != "!"])
    return Area(folder, include, tuple(joined(folder, f"{base}/{one[1:]}") for one in patterns if one[:1] == "!"))


JASMINE: Final = framework(
    Runner(
        name="jasmine",
        modules=frozenset({"jasmine"}),
        packages=frozenset({"jasmine", "jasmine-core", "karma"}),
        uses=frozenset({"jasmine"}),
        usual=jasmine,
    ),
    areas,
)
