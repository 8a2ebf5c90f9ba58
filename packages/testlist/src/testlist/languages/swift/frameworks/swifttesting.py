"""Swift Testing: functions that bear `@Test`, in types and outside of them.

`.disabled()` skips, also on a suite; with a condition it leaves a test active.
"""

from typing import Final

from testlist.languages.swift.framework import SwiftFramework
from testlist.languages.swift.suite import SwiftSuite

SWIFT_TESTING: Final = SwiftFramework("swift-testing", SwiftSuite.marked)
