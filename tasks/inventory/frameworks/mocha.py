"""mocha: calls of it and specify; files by `spec` of .mocharc or package.json, and by what its scripts are given."""

import shlex
from collections.abc import Iterator
from typing import Any, Final

from tasks.inventory.javascript.runner import Area, Runner, RunnerFramework, configs, strings, table
from tasks.inventory.project import Project, folder_of, joined

#: options followed by a value that is no spec
VALUED: Final = frozenset(
    {"-r", "--require", "-t", "--timeout", "-s", "--slow", "-R", "--reporter", "-O", "--reporter-option", "-u", "--ui",
     "-g", "--grep", "-f", "--fgrep", "-j", "--jobs", "--config", "--package", "--file", "--extension", "--ignore",
     "--exclude", "--retries", "--watch-files", "--watch-ignore", "-n", "--node-option"}
)  # fmt: skip
SEPARATORS: Final = frozenset({"&&", "||", ";", "|", "&"})
SUFFIXES: Final = "{js,cjs,mjs,ts,cts,mts,jsx,tsx}"


def areas(project: Project) -> Iterator[Area]:
    """Every configuration and every script that starts mocha."""
    for path, data in configs(project, ".mocharc"):
        yield from configured(folder_of(path), table(data))
    for path in project.named("package.json"):
        package = table(project.data(path))
        if isinstance(package.get("mocha"), dict):
            yield from configured(folder_of(path), package["mocha"])
        for script in table(package.get("scripts")).values():
            specs = list(given(script)) if isinstance(script, str) else []
            if specs:
                yield area(folder_of(path), specs, [])


def configured(folder: str, data: dict[str, Any]) -> Iterator[Area]:
    """A configuration that says which files it means."""
    specs = strings(data.get("spec"))
    if specs:
        yield area(folder, specs, strings(data.get("ignore")) + strings(data.get("exclude")))


def area(folder: str, specs: list[str], ignored: list[str]) -> Area:
    """Files and patterns as they stand; a folder means the files in it."""
    include = [
        spec for one in specs for spec in ([one] if "." in one.rpartition("/")[2] else [one, f"{one}/*.{SUFFIXES}"])
    ]
    return Area(folder, tuple(joined(folder, one) for one in include), tuple(joined(folder, one) for one in ignored))


def given(script: str) -> Iterator[str]:
    """Files and patterns given to mocha on a command line."""
    try:
        words = shlex.split(script)
    except ValueError:  # unbalanced quotes
        return
    inside = skip = False
    for word in words:
        if word in SEPARATORS:
            inside = skip = False
        elif not inside:
            inside = word.rpartition("/")[2] in ("mocha", "_mocha")
        elif skip or word.startswith("-"):
            skip = word in VALUED
        else:
            yield word


MOCHA: Final = RunnerFramework(
    Runner(
        name="mocha",
        modules=frozenset({"mocha"}),
        packages=frozenset({"mocha"}),
    ),
    areas,
)
