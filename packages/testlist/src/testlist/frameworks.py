"""The test frameworks this engine knows: one line each, one file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.cpp.frameworks import boosttest, catch2, doctest, gtest
from testlist.languages.csharp.frameworks import mstest, nunit, xunit
from testlist.languages.go.frameworks import gotesting
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
from testlist.languages.jvm.frameworks import junit4, junit5, kotest, spock, testng
from testlist.languages.php.frameworks import pest, phpunit
from testlist.languages.python.frameworks import pytest, unittest
from testlist.languages.ruby.frameworks import minitest, rspec
from testlist.languages.rust.frameworks import cargotest
from testlist.languages.swift.frameworks import swifttesting, xctest

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
    cargotest.CARGO_TEST,
    minitest.MINITEST,
    rspec.RSPEC,
    junit4.JUNIT4,
    junit5.JUNIT5,
    testng.TESTNG,
    kotest.KOTEST,
    spock.SPOCK,
)
