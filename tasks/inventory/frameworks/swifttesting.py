"""Swift Testing: functions that bear `@Test`, in types and outside of them.

`.disabled()` skips, also on a suite; with a condition it leaves a test active.
"""

from typing import Final

from tasks.inventory.swift.framework import SwiftFramework
from tasks.inventory.swift.suite import SwiftSuite

SWIFT_TESTING: Final = SwiftFramework("swift-testing", SwiftSuite.marked)
