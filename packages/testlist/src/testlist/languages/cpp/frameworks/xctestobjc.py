"""XCTest in Objective-C: methods `- (void)test...` of classes that end in XCTestCase, and of their categories.

XCTSkip as the first statement skips, XCTExpectFailure there is xfail.
"""

from typing import Final

from testlist.languages.cpp.collect_cases import cases
from testlist.languages.cpp.scope_cases import framework

XCTEST: Final = framework("xctest-objc", cases("xctest-objc"))
