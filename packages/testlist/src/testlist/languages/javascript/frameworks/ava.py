"""AVA: calls of the function that `ava` exports; files by `files` of its configuration."""

from collections.abc import Iterator
from typing import Any, Final

from testlist.languages.javascript.collect import Dialect
from testlist.languages.javascript.config_compiled import compiled
from testlist.languages.javascript.config_files import configs, manifests, table
from testlist.languages.javascript.config_scripts import commands, operands
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.languages.javascript.vocabulary_files import possible
from testlist.project import Project, folder_of, joined

DEFAULT: Final = ("test.*", "src/test.*", "source/test.*", "**/test-*.*", "**/*.spec.*", "**/*.test.*",
                  "**/test/**/*.*", "**/tests/**/*.*", "**/__tests__/**/*.*")  # fmt: skip
#: what the defaults leave out, and what no pattern brings back
HELPING: Final = ("**/__tests__/**/__{helper,fixture}?(s)__/**/*", "**/test?(s)/**/{helper,fixture}?(s)/**/*")
NEVER: Final = ("**/_*", "**/_[!_]*/**/*")
VALUED: Final = frozenset({"-m", "--match", "-c", "--concurrency", "--config", "-T", "--timeout", "--node-arguments"})


def areas(project: Project) -> Iterator[Area]:
    """Every configuration, and every script that starts it."""
    configured: set[str] = set()
    for folder, data in configurations(project):
        configured.add(folder)
        yield area(project, folder, strings(data.get("files")))
    for path in manifests(project):
        for words in commands(table(project.data(path)).get("scripts"), "ava"):
            folder = folder_of(path)
            if folder not in configured:
                given = [one for one in operands(words, VALUED) if "/" in one or "." in one]
                yield area(project, folder, given)


def configurations(project: Project) -> Iterator[tuple[str, dict[str, Any]]]:
    """Folders and options of every configuration."""
    for path, data in configs(project, "ava.config"):
        yield folder_of(path), table(data)
    for path in manifests(project):
        if isinstance(data := table(project.data(path)).get("ava"), dict):
            yield folder_of(path), data


def area(project: Project, folder: str, patterns: list[str]) -> Area:
    """Patterns choose among all files; those with an exclamation mark leave out."""
    chosen = [one for one in patterns if one[:1] != "!"]
    include = [pattern for one in chosen for pattern in (one, f"{one.rstrip('/')}/**/*")] or list(DEFAULT)
    never = NEVER if chosen else (*HELPING, *NEVER)
    exclude = [*never, *(pattern for one in patterns if one[:1] == "!" for pattern in (one[1:], f"{one[1:]}/**/*"))]
    return Area(folder, compiled(project, folder, include), tuple(joined(folder, one) for one in exclude))


AVA: Final = framework(
    Runner(
        name="ava",
        modules=frozenset({"ava"}),
        packages=frozenset({"ava"}),
        bare=False,
        suites=False,
        usual=possible,
        dialect=Dialect(forms=frozenset({"name", "function"})),
    ),
    areas,
)
