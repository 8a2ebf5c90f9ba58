"""jest: calls of it and test; files by testMatch, testRegex and roots of jest.config or package.json."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from testlist.kit import globs
from testlist.languages.javascript.config_files import configs, manifests, packaged, table, whole
from testlist.languages.javascript.config_scripts import commands, operands
from testlist.languages.javascript.scope import Area, Runner, framework, outer, strings
from testlist.project import Project, below, folder_of, joined

MATCH: Final = ("**/__tests__/**/*.?([mc])[jt]s?(x)", "**/?(*.)+(spec|test).?([mc])[jt]s?(x)")
VALUED: Final = frozenset(
    {"-c", "--config", "-t", "--testNamePattern", "-w", "--maxWorkers", "--testTimeout", "--env", "--rootDir",
     "--testEnvironment", "--reporters", "--coverageReporters", "--coverageDirectory", "--outputFile", "--shard"}
)  # fmt: skip
#: where a repository lies for expressions on absolute paths: no word that one of them would name
PLACE: Final = "/~"


def areas(project: Project) -> Iterator[Area]:
    """Every configuration."""
    found = [(folder_of(path), table(data)) for path, data in configs(project, "jest.config")]
    own = [(folder_of(path), table(project.data(path)).get("jest")) for path in manifests(project)]
    given = [(folder, data) for folder, data in own if isinstance(data, dict)]
    folders = [folder for folder, _ in (*found, *given)]
    named = {placed(one, folder) for folder, data in (*found, *given) for one in strings(data.get("projects"))}
    found += [(folder, data) for folder, data in given if not is_input(project, folder, folders, named)]
    configuring = tuple(f"{folder}/**/*" for folder, _ in found if folder)
    for folder, data in found:
        yield from configured(project, folder, data, configuring)
    for path in manifests(project):
        if folder_of(path) not in {folder for folder, _ in found}:
            yield from started(folder_of(path), table(project.data(path)).get("scripts"))


def is_input(project: Project, folder: str, folders: list[str], named: set[str]) -> bool:
    """Whether a package is nothing but options of jest, below a configuration that does not name it.

    Tests of jest itself and of what is built on it run it in such folders, as they run any program on its input.
    folders: those with a configuration; named: patterns of projects.
    """
    data = table(project.data(joined(folder, "package.json")))
    if not set(data) <= {"jest", "type"} or not any(below(folder, one) and one != folder for one in folders):
        return False
    return not any(globs.match(folder, one.rstrip("/")) for one in named)


def started(folder: str, scripts: Any) -> Iterator[Area]:
    """What command lines without a configuration choose among the usual files: expressions on paths."""
    for words in commands(scripts, "jest"):
        given = [one for one in operands(words, VALUED) if "$" not in one]
        if wanted := [found for one in given if (found := safe(one, folder)) is not None]:
            yield Area(folder, tuple(joined(folder, one) for one in MATCH), (), condition(wanted, []), loose=True)


def configured(project: Project, folder: str, data: dict[str, Any], own: tuple[str, ...]) -> Iterator[Area]:
    """The area of one configuration, or those of its projects.  own: what has a configuration of its own."""
    inner = data.get("projects")
    if isinstance(inner, list) and inner:
        for entry in inner:
            if isinstance(entry, dict):
                yield from configured(project, folder, entry, own)
            elif isinstance(entry, str) and (home := placed(entry, folder)) == folder:
                # the folder of the configuration: itself, with all that it says
                yield from configured(project, folder, {key: data[key] for key in data if key != "projects"}, own)
            elif isinstance(entry, str):
                yield Area(folder, tuple(joined(home, one) for one in MATCH), own)
        return
    data = table(preset(project, folder, data.get("preset"))) | data
    base = next((placed(root, folder) for root in strings(data.get("rootDir"))), folder)
    roots = [placed(root, base) for root in strings(data.get("roots"))] or [base]
    regexes = [found for one in strings(data.get("testRegex")) if (found := safe(one, base)) is not None]
    ignored = [found for one in strings(data.get("testPathIgnorePatterns")) if (found := safe(one, base)) is not None]
    include = ("**/*",) if regexes else tuple(strings(data.get("testMatch"))) or MATCH
    exclude = tuple(seen_from(one[1:], base, base) for one in include if one.startswith("!"))
    for root in roots:
        patterns = tuple(seen_from(one, base, root) for one in include if one[:1] != "!")
        yield Area(outer(folder, base), patterns, exclude, condition(regexes, ignored, root))


def seen_from(pattern: str, base: str, root: str) -> str:
    """A glob from the root of the repository; jest's see absolute paths, so `**` may begin above any folder."""
    return pattern if pattern.startswith("**/") else placed(pattern, base if pattern.startswith("<rootDir>") else root)


def preset(project: Project, folder: str, name: Any) -> Any:
    """What a preset of the repository says; one from outside says nothing of files."""
    if not isinstance(name, str):
        return None
    named = placed(name, folder) if name.startswith((".", "<rootDir>")) else project.once(packaged).get(name)
    if named is None:
        return None
    places = (named, *(joined(named, f"jest-preset.{suffix}") for suffix in ("json", "js", "cjs", "mjs")))
    return next((whole(project, place) for place in places if place in project.configs), None)


def placed(pattern: str, folder: str) -> str:
    """A pattern from the root of the repository."""
    return joined(folder, pattern.replace("<rootDir>/", "").replace("<rootDir>", ""))


def safe(pattern: str, folder: str) -> re.Pattern[str] | None:
    """Compile a regular expression that sees absolute paths."""
    return globs.regex(pattern.replace("<rootDir>", re.escape(f"{PLACE}/{folder}" if folder else PLACE)))


def condition(
    regexes: list[re.Pattern[str]], ignored: list[re.Pattern[str]], root: str = ""
) -> Callable[[str], bool] | None:
    """Combine roots, testRegex and testPathIgnorePatterns; these see absolute paths, so ours are somewhere."""
    if not regexes and not ignored and not root:
        return None

    def allows(path: str) -> bool:
        if not below(path, root):
            return False
        seen = f"{PLACE}/{path}"[: globs.LONGEST]
        wanted = not regexes or any(regex.search(seen) for regex in regexes)
        return wanted and not any(regex.search(seen) for regex in ignored)

    return allows


JEST: Final = framework(
    Runner(
        name="jest",
        modules=frozenset({"@jest/globals"}),
        packages=frozenset({"jest", "ts-jest", "react-scripts", "@jest/globals", "@jest/core"}),
        uses=frozenset({"jest"}),
        guess=True,
    ),
    areas,
)
