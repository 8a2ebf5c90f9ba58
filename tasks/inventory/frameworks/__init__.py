"""The test frameworks this engine knows: one line each, one file each."""

from typing import Final

from tasks.inventory.frameworks import (
    gotesting,
    jest,
    junit4,
    junit5,
    kotest,
    mocha,
    playwright,
    pytest,
    spock,
    testng,
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
    gotesting.GO_TESTING,
    junit4.JUNIT4,
    junit5.JUNIT5,
    testng.TESTNG,
    kotest.KOTEST,
    spock.SPOCK,
)
