"""Swift Testing: functions that bear `@Test`, in types and outside of them.

`.disabled()` skips, also on a suite; with a condition it leaves a test active.
"""

from typing import Final

from testlist.languages.swift.resolve import Resolver
from testlist.languages.swift.scope import framework
from testlist.languages.swift.shape import FunctionFact


def is_test(resolver: Resolver, function: FunctionFact) -> bool:  # noqa: ARG001 - as the other framework asks
    """A function that bears `@Test`, wherever it stands."""
    return "marked" in function


SWIFT_TESTING: Final = framework("swift-testing", is_test)
