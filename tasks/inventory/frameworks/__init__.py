"""The test frameworks this engine knows: one line each, one file each."""

from typing import Final

from tasks.inventory.frameworks import (
    cargotest,
    gotesting,
    jest,
    minitest,
    mocha,
    playwright,
    pytest,
    rspec,
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
    cargotest.CARGO_TEST,
    minitest.MINITEST,
    rspec.RSPEC,
)
