"""Names of modules and packages that belong to test runners."""

import re
from functools import lru_cache
from typing import Final

#: modules, and global objects, that give their names to tests
RUNNERS: Final = frozenset(
    {"vitest", "@jest/globals", "mocha", "@playwright/test", "node:test", "bun:test", "cypress", "ava", "tape", "qunit",
     "jasmine", "tap", "@tapjs/core", "@tapjs/test", "libtap", "tape-catch", "tape-promise", "tape-promise/tape",
     "blue-tape", "fresh-tape", "uvu", "test", "testing/bdd",
     "Deno", "QUnit"}
)  # fmt: skip
#: the end of the many names that Deno's describe and it are imported by
BDD: Final = "testing/bdd"
#: names of packages that others give to what they build on a runner -> the runner's module
EXTENDED: Final = {"vitest": "vitest", "jest": "@jest/globals", "ava": "ava", "mocha": "mocha"}
#: modules whose default export is a table to hang `it` or `test` on
TABLES: Final = frozenset({"jest-each"})
#: modules whose default export is called with a title, what to run and a table
CASES: Final = frozenset({"jest-in-case"})

#: dependencies of a package that name its runner; one that is not ours keeps us from guessing
ANNOUNCING: Final = frozenset(
    {"jest", "ts-jest", "react-scripts", "vitest", "mocha", "jasmine", "jasmine-core", "karma", "ava", "tape", "tap",
     "qunit", "uvu", "cypress", "@playwright/test", "@jest/globals", "@jest/core", "ember-qunit", "qunitjs",
     "karma-qunit", "grunt-contrib-qunit", "borp"}
)  # fmt: skip

#: words in a path that say that a file serves tests; anything else is what they test
SERVING: Final = re.compile(r"(?i)test|spec|e2e|suite|fixture|helper|shared|common|harness|cases|util|setup|support")
#: how names begin that stand for folders of a repository
STANDING: Final = ("~", "#", "$", "@/", "src/")
OUTSIDE: Final = re.compile(r"testing-library|^(?:node|bun|jsr|npm|https?):")


@lru_cache(maxsize=1_024)  # files of a repository import the same modules
def is_own(module: str) -> bool:
    """Whether an import may be of a file of the repository that serves tests: by a path, or by a name for one."""
    if module.startswith("."):
        return True
    if module in RUNNERS or OUTSIDE.search(module):
        return False
    return module.startswith(STANDING) or SERVING.search(module) is not None
