"""XCTest: methods `test...` without parameters of classes whose bases end in XCTestCase, through the repository.

Methods of their extensions count as well.  XCTSkip as the first statement skips, XCTExpectFailure there is xfail.
"""

from typing import Final

from tasks.inventory.swift.framework import SwiftFramework
from tasks.inventory.swift.suite import SwiftSuite

XCTEST: Final = SwiftFramework("xctest", SwiftSuite.methods)
