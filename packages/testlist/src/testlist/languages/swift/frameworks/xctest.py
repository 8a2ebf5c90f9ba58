"""XCTest: methods `test...` without parameters of classes whose bases end in XCTestCase, through the repository.

Methods of their extensions count as well.  XCTSkip as the first statement skips, XCTExpectFailure there is xfail.
"""

from typing import Final

from testlist.languages.swift.resolve import Resolver
from testlist.languages.swift.scope import framework
from testlist.languages.swift.shape import FunctionFact


def is_test(resolver: Resolver, function: FunctionFact) -> bool:
    """A method of a test case; one that bears `@Test` is not its own."""
    return "marked" not in function and resolver.is_case(function["outer"])


XCTEST: Final = framework("xctest", is_test)
