"""node:test: calls of test and it; files by what `node --test` is given, or by their import."""

from collections.abc import Iterator
from typing import Final

from testlist.languages.javascript.collect import Dialect
from testlist.languages.javascript.config_compiled import compiled
from testlist.languages.javascript.config_files import manifests, table
from testlist.languages.javascript.config_scripts import commands, files, is_loose, operands, values
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.languages.javascript.vocabulary_files import possible
from testlist.project import Project, folder_of, joined

SUFFIX: Final = "{js,cjs,mjs,ts,cts,mts}"
DEFAULT: Final = (
    f"**/*.test.{SUFFIX}",
    f"**/*-test.{SUFFIX}",
    f"**/*_test.{SUFFIX}",
    f"**/test-*.{SUFFIX}",
    f"**/test.{SUFFIX}",
    f"**/test/**/*.{SUFFIX}",
)
VALUED: Final = frozenset(
    {"-r", "--require", "--import", "--loader", "--experimental-loader", "--test-reporter", "--test-concurrency",
     "--test-reporter-destination", "--test-name-pattern", "--test-skip-pattern", "--test-timeout", "--env-file",
     "--conditions", "-C", "--test-shard", "-p", "--pattern", "--reporter", "-c", "--concurrency", "--timeout", "-T",
     "--lines", "--branches", "--functions", "--statements", "--coverage-exclude", "-X", "--ignore", "-i"}
)  # fmt: skip


def areas(project: Project) -> Iterator[Area]:
    """Every script that starts it, by itself or by a program that does."""
    for path in manifests(project):
        scripts = table(project.data(path)).get("scripts")
        for program in ("node", "tsx"):
            for words in commands(scripts, program):
                if "--test" in words:
                    yield area(project, folder_of(path), operands(words, VALUED))
        for words in commands(scripts, "borp"):
            given = operands(words, VALUED) + values(words, "-p", "--pattern") + configured(project, folder_of(path))
            yield area(project, folder_of(path), given)


def configured(project: Project, folder: str) -> list[str]:
    """Patterns of a configuration of borp."""
    paths = (joined(folder, name) for name in (".borp.yaml", ".borp.yml"))
    return [one for path in paths for one in strings(table(project.data(path)).get("files"))]


def area(project: Project, folder: str, given: list[str]) -> Area:
    """Files and patterns as they stand."""
    include = [pattern for one in given for pattern in files(one, deep=True)] or list(DEFAULT)
    return Area(folder, compiled(project, folder, include), loose=is_loose(given))


NODE_TEST: Final = framework(
    Runner(
        name="node-test",
        modules=frozenset({"node:test", "test"}),
        packages=frozenset({"node:test", "borp"}),
        bare=False,
        usual=possible,
        dialect=Dialect(forms=frozenset({"function", "object", "name"}), subtests=True, bodiless=None),
    ),
    areas,
)
