"""The test frameworks of Swift: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.swift.frameworks import swifttesting, xctest

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    xctest.XCTEST,
    swifttesting.SWIFT_TESTING,
)
