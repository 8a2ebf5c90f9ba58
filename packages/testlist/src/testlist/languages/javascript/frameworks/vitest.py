"""vitest: calls of it, test and bench; files by `test.include` of vitest.config, vite.config or a workspace."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from testlist.kit import globs
from testlist.languages.javascript.collect import Dialect
from testlist.languages.javascript.config_files import configs, manifests, table
from testlist.languages.javascript.config_scripts import commands, values
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.project import Project, below, folder_of, joined

INCLUDE: Final = ("**/*.{test,spec}.?(c|m)[jt]s?(x)", "**/*.{bench,benchmark}.?(c|m)[jt]s?(x)")
TYPES: Final = ("**/*.{test,spec}-d.?(c|m)[jt]s?(x)",)
EXCLUDE: Final = ("**/cypress/**", "**/{vite,vitest,jest}.config.*")
#: entries of a workspace that are read
MOST_PROJECTS: Final = 1_000


def areas(project: Project) -> Iterator[Area]:
    """Every configuration; a vite.config only counts with a `test` table."""
    roots = dict(started(project))
    for stem in ("vitest.config", "vite.config"):
        for path, data in configs(project, stem):
            if stem == "vitest.config" or "test" in table(data):
                given = table(data) | {"test": options(project, path, table(table(data).get("test")))}
                found = configured(project, roots.get(path, folder_of(path)), given, {})
                yield from (narrowed(area, folder_of(path)) for area in found)
    for stem in ("vitest.workspace", "vitest.projects"):
        for path, data in configs(project, stem):
            yield from projects(project, folder_of(path), data, {})


def started(project: Project) -> Iterator[tuple[str, str]]:
    """Configurations that scripts of other folders name, and the folder that their patterns begin at then."""
    for path in manifests(project):
        folder = folder_of(path)
        for words in commands(table(project.data(path)).get("scripts"), "vitest"):
            root = next(iter(values(words, "--root", "-r")), "")
            for config in values(words, "--config", "-c"):
                yield joined(joined(folder, root), config), joined(folder, root)


def options(project: Project, path: str, test: dict[str, Any]) -> dict[str, Any]:
    """The options of a configuration with what scripts beside it switch on.

    Without the projects of one that it is built on: they are of another folder.
    """
    own = table(table(project.data(path)).get("test"))
    found = {key: value for key, value in test.items() if key in own or key not in ("projects", "workspace")}
    scripts = table(project.data(joined(folder_of(path), "package.json"))).get("scripts")
    if any(word.startswith("--typecheck") for words in commands(scripts, "vitest") for word in words):
        found["typecheck"] = table(found.get("typecheck")) | {"enabled": True}
    return found


def narrowed(area: Area, folder: str) -> Area:
    """An area that governs no more than the folder of its configuration, if it looks nowhere else."""
    return replace(area, folder=folder) if all(below(one, folder) for one in area.include) else area


def configured(project: Project, folder: str, data: dict[str, Any], outer: dict[str, Any]) -> Iterator[Area]:
    """The area of one configuration, or those of its projects.  outer: what it extends."""
    test = outer | table(data.get("test"))
    inner = test.pop("projects", None) or test.pop("workspace", None)
    if isinstance(inner, list) and inner:
        yield from projects(project, folder, inner, test)
        return
    base = next((joined(folder, root) for root in strings([test.get("root"), data.get("root")])), folder)
    search = next((joined(base, root) for root in strings(test.get("dir"))), base)
    include = (
        *(strings(test.get("include")) or INCLUDE[:1]),
        *(strings(table(test.get("benchmark")).get("include")) or INCLUDE[1:]),
        *typed(table(test.get("typecheck"))),
        *strings(test.get("includeSource")),
    )
    yield Area(folder, tuple(joined(search, one) for one in include), excluded(base, strings(test.get("exclude"))))


def typed(data: dict[str, Any]) -> Sequence[str]:
    """Files of tests of types, which are only checked if that is switched on."""
    return (strings(data.get("include")) or TYPES) if data.get("enabled") is True else ()


def excluded(base: str, given: list[str]) -> tuple[str, ...]:
    """Patterns of what is left out; that of a folder means all in it."""
    return tuple(joined(base, pattern) for one in given or EXCLUDE for pattern in (one, f"{one.rstrip('/')}/**/*"))


def projects(project: Project, folder: str, entries: Any, outer: dict[str, Any]) -> Iterator[Area]:
    """Projects of a workspace: folders by pattern, or configurations written in place."""
    given = entries[:MOST_PROJECTS] if isinstance(entries, list) else []
    left_out = tuple(f"{joined(folder, entry[1:])}/**/*" for entry in strings(given) if entry.startswith("!"))
    for entry in given:
        if isinstance(entry, str) and not entry.startswith("!"):
            for home in homes(project, joined(folder, entry)):
                exclude = (*excluded(home, []), *left_out, *project.once(configuring))
                yield Area(folder, tuple(joined(home, one) for one in INCLUDE), exclude)
        elif isinstance(entry, dict):
            yield from configured(project, folder, entry, outer if entry.get("extends") is True else {})
    if None in given:
        yield Area(folder, (), open=True)


def configuring(project: Project) -> tuple[str, ...]:
    """Folders with a configuration of their own, by which their files are found."""
    named = [path for path, _ in configs(project, "vitest.config")]
    named += [path for path, data in configs(project, "vite.config") if "test" in table(data)]
    folders = sorted({folder_of(path) for path in named} - {""})
    return tuple(f"{folder}/**/*" for folder in folders)


def homes(project: Project, entry: str) -> list[str]:
    """Folders of an entry: itself, or those of the configuration files it means that say nothing of tests."""
    if ".config." not in entry:
        return [entry]
    found = [path for path in project.configs if globs.match(path, entry)]
    return [folder_of(path) for path in found if "test" not in table(project.data(path))]


VITEST: Final = framework(
    Runner(
        name="vitest",
        modules=frozenset({"vitest"}),
        packages=frozenset({"vitest"}),
        uses=frozenset({"vi"}),
        priority=200,
        dialect=Dialect(benches=True),
    ),
    areas,
)
