"""tap: calls of test of node-tap and tape, and subtests in them; files by scripts, configuration or import."""

from collections.abc import Iterator
from typing import Any, Final

from testlist.languages.javascript.collect import Dialect
from testlist.languages.javascript.config_compiled import compiled
from testlist.languages.javascript.config_files import configs, manifests, table
from testlist.languages.javascript.config_scripts import commands, files, is_loose, operands
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.languages.javascript.vocabulary_files import possible
from testlist.project import Project, folder_of

VALUED: Final = frozenset(
    {"-r", "--require", "-R", "--reporter", "-t", "--timeout", "-j", "--jobs", "-c", "--coverage-report", "--node-arg",
     "--test-arg", "--before", "--after", "-i", "--ignore", "--import", "--loader"}
)  # fmt: skip
MODULES: Final = frozenset(
    {"tap", "@tapjs/core", "@tapjs/test", "libtap", "tape", "tape-catch", "tape-promise", "tape-promise/tape",
     "blue-tape", "fresh-tape"}
)  # fmt: skip
#: below a folder of tests node-tap leaves out what these hold
NEVER: Final = ("**/{fixture,tap-snapshot}?(s)/**/*",)


def areas(project: Project) -> Iterator[Area]:
    """Every script that gives files, and every configuration that does."""
    for path in manifests(project):
        package = table(project.data(path))
        for program in ("tap", "tape", "tape-es", "faucet"):
            for words in commands(package.get("scripts"), program):
                yield from area(project, folder_of(path), operands(words, VALUED))
        yield from area(project, folder_of(path), included(table(package.get("tap"))))
    for path, data in configs(project, ".taprc"):
        yield from area(project, folder_of(path), included(table(data)))


def included(data: dict[str, Any]) -> list[str]:
    """Patterns of a configuration, under the names of several versions."""
    return [one for key in ("include", "files", "test-files") for one in strings(data.get(key))]


def area(project: Project, folder: str, given: list[str]) -> Iterator[Area]:
    """Files and patterns as they stand."""
    if given:
        include = [pattern for one in given for pattern in files(one, deep=True)]
        yield Area(folder, compiled(project, folder, include), NEVER, loose=is_loose(given))


TAP: Final = framework(
    Runner(
        name="tap",
        modules=MODULES,
        packages=frozenset({"tap", "tape"}),
        bare=False,
        suites=False,
        usual=possible,
        dialect=Dialect(forms=frozenset({"function", "object", "name"}), subtests=True, asserts=frozenset({"fail"})),
    ),
    areas,
)
