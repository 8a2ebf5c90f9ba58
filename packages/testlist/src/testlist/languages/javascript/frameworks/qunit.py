"""QUnit: calls of QUnit.test and its kin in modules, nested or one after the other; files by script or by use."""

from collections.abc import Iterator
from typing import Final

from testlist.languages.javascript.collect import Dialect
from testlist.languages.javascript.config_files import manifests, table
from testlist.languages.javascript.config_scripts import commands, files, is_loose, operands
from testlist.languages.javascript.scope import Area, Runner, framework
from testlist.languages.javascript.vocabulary_files import possible
from testlist.project import Project, folder_of, joined

DEFAULT: Final = "test/**/*.{js,mjs,cjs}"
BROWSERS: Final = ("testem", "karma", "ember", "wtr", "web-test-runner")
VALUED: Final = frozenset({"--filter", "-f", "--module", "-m", "--reporter", "-r", "--require", "--seed"})


def areas(project: Project) -> Iterator[Area]:
    """Every script that starts it."""
    for path in manifests(project):
        scripts = table(project.data(path)).get("scripts")
        for words in commands(scripts, "qunit"):
            folder, given = folder_of(path), operands(words, VALUED)
            # what browsers run is found by pages, and by the programs that open them
            pages = any(True for program in BROWSERS for _ in commands(scripts, program))
            include = [pattern for one in given for pattern in files(one, deep=True)] or [DEFAULT]
            yield Area(folder, tuple(joined(folder, one) for one in include), loose=is_loose(given), open=pages)


QUNIT: Final = framework(
    Runner(
        name="qunit",
        modules=frozenset({"qunit", "QUnit"}),
        packages=frozenset({"qunit", "qunitjs", "ember-qunit", "karma-qunit", "grunt-contrib-qunit"}),
        uses=frozenset({"QUnit"}),
        usual=possible,
        dialect=Dialect(modules=True),
    ),
    areas,
)
