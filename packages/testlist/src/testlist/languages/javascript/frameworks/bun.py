"""Bun: calls of test and it, global or imported; files by name, below the root that bunfig.toml sets."""

from collections.abc import Iterator
from typing import Final

from testlist.languages.javascript.config_files import configs, manifests, table
from testlist.languages.javascript.config_scripts import commands, operands
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.languages.javascript.vocabulary_files import bun
from testlist.project import Project, folder_of, joined

MATCH: Final = "**/*{.,_}{test,spec}.{js,jsx,ts,tsx,mjs,cjs,mts,cts}"
VALUED: Final = frozenset(
    {"-t", "--test-name-pattern", "--timeout", "--preload", "-r", "--reporter", "--reporter-outfile", "--rerun-each",
     "--bail", "--env-file", "--coverage-reporter", "--coverage-dir", "--cwd"}
)  # fmt: skip


def areas(project: Project) -> Iterator[Area]:
    """Every `bun test` of a script; a root that is configured."""
    roots = {
        folder_of(path): joined(folder_of(path), root)
        for path, data in configs(project, "bunfig.toml")
        for root in strings(table(data).get("root"))
    }
    for folder, root in roots.items():
        yield Area(folder, (joined(root, MATCH),))
    for path in manifests(project):
        folder = folder_of(path)
        for words in commands(table(project.data(path)).get("scripts"), "bun", "test"):
            yield area(folder, roots.get(folder, folder), operands(words, VALUED))


def area(folder: str, root: str, given: list[str]) -> Area:
    """Files of the right name, and with one of the words that were given in their path."""
    parts = [one.removeprefix("./").strip("*") for one in given]
    return Area(folder, (joined(root, MATCH),), (), lambda path: not parts or any(part in path for part in parts))


BUN: Final = framework(
    Runner(
        name="bun",
        modules=frozenset({"bun:test"}),
        packages=frozenset({"bun:test"}),
        usual=bun,
    ),
    areas,
)
