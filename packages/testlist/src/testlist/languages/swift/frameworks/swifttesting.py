"""Swift Testing: functions that bear `@Test`, in types and outside of them.

`.disabled()` skips, also on a suite; with a condition it leaves a test active.
"""

from typing import Final

from testlist.languages.swift.resolve import Resolver
from testlist.languages.swift.scope import framework

SWIFT_TESTING: Final = framework("swift-testing", Resolver.marked)
