"""XCTest: methods `test...` without parameters of classes whose bases end in XCTestCase, through the repository.

Methods of their extensions count as well.  XCTSkip as the first statement skips, XCTExpectFailure there is xfail.
"""

from typing import Final

from testlist.languages.swift.resolve import Resolver
from testlist.languages.swift.scope import framework

XCTEST: Final = framework("xctest", Resolver.methods)
