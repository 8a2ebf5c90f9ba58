"""Names of modules and packages that belong to test runners."""

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
#: modules whose default export is a table to hang `it` or `test` on
TABLES: Final = frozenset({"jest-each"})
#: modules whose default export is called with a title, what to run and a table
CASES: Final = frozenset({"jest-in-case"})

#: dependencies of a package that name its runner; one that is not ours keeps us from guessing
ANNOUNCING: Final = frozenset(
    {"jest", "ts-jest", "react-scripts", "vitest", "mocha", "jasmine", "jasmine-core", "karma", "ava", "tape", "tap",
     "qunit", "uvu", "cypress", "@playwright/test", "@jest/globals", "@jest/core", "ember-qunit", "borp"}
)  # fmt: skip
