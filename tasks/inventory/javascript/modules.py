"""Names of modules and packages that belong to test runners."""

from typing import Final

#: modules that give their names to tests
RUNNERS: Final = frozenset(
    {"vitest", "@jest/globals", "mocha", "@playwright/test", "node:test", "bun:test", "cypress", "ava", "tape", "qunit",
     "jasmine", "tap", "uvu", "test"}
)  # fmt: skip

#: dependencies of a package that name its runner; one that is not ours keeps us from guessing
ANNOUNCING: Final = frozenset(
    {"jest", "ts-jest", "react-scripts", "vitest", "mocha", "jasmine", "jasmine-core", "karma", "ava", "tape", "tap",
     "qunit", "uvu", "cypress", "@playwright/test", "@jest/globals", "@jest/core"}
)  # fmt: skip
