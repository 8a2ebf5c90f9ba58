"""The test frameworks of JavaScript and TypeScript: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.javascript.frameworks import (
    ava,
    bun,
    cypress,
    deno,
    jasmine,
    jest,
    mocha,
    nodetest,
    playwright,
    qunit,
    tap,
    vitest,
)

FRAMEWORKS: Final[tuple[Framework, ...]] = (
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
)
