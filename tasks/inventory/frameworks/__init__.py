"""The test frameworks this engine knows: one line each, one file each."""

from typing import Final

from tasks.inventory.frameworks import (
    ava,
    bun,
    cypress,
    deno,
    gotesting,
    jasmine,
    jest,
    mocha,
    nodetest,
    playwright,
    pytest,
    qunit,
    tap,
    unittest,
    vitest,
)
from tasks.inventory.interface import Framework

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    pytest.PYTEST,
    unittest.UNITTEST,
    jest.JEST,
    vitest.VITEST,
    mocha.MOCHA,
    playwright.PLAYWRIGHT,
    cypress.CYPRESS,
    nodetest.NODE_TEST,
    bun.BUN,
    deno.DENO,
    jasmine.JASMINE,
    ava.AVA,
    tap.TAP,
    qunit.QUNIT,
    gotesting.GO_TESTING,
)
