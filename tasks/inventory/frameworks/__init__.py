"""The test frameworks this engine knows: one line each, one file each."""

from typing import Final

from tasks.inventory.frameworks import (
    boosttest,
    catch2,
    doctest,
    gotesting,
    gtest,
    jest,
    mocha,
    mstest,
    nunit,
    pest,
    phpunit,
    playwright,
    pytest,
    swifttesting,
    unittest,
    vitest,
    xctest,
    xunit,
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
    nunit.NUNIT,
    xunit.XUNIT,
    mstest.MSTEST,
    phpunit.PHPUNIT,
    pest.PEST,
    gtest.GTEST,
    catch2.CATCH2,
    doctest.DOCTEST,
    boosttest.BOOST_TEST,
    xctest.XCTEST,
    swifttesting.SWIFT_TESTING,
)
