"""Names of package:test, of flutter_test and of packages that build on them."""

import re
from typing import Final

GROUPS: Final = frozenset({"group"})
#: functions of flutter_test and of packages for it alone
WIDGETS: Final = frozenset(
    {"testWidgets", "testGoldens", "goldenTest", "patrolTest", "patrolWidgetTest", "testWithGame", "testWithFlameGame"}
)
TESTS: Final = frozenset({"test", "blocTest", *WIDGETS})
WORDS: Final = GROUPS | TESTS
#: names that functions of a repository may have which declare tests
PERHAPS: Final = re.compile(r"(?i)test|group|golden|scenario|case")
#: packages -> whose tests the importing file has
PACKAGES: Final = {
    "flutter_test": "flutter-test", "integration_test": "flutter-test", "patrol": "flutter-test",
    "golden_toolkit": "flutter-test", "alchemist": "flutter-test", "flame_test": "flutter-test",
    "test": "dart-test", "test_api": "dart-test", "test_core": "dart-test",
}  # fmt: skip
#: methods that call a function for each of many
LOOPS: Final = frozenset({"forEach", "map", "expand", "every"})
#: annotations of test_reflective_loader, without regard to their first letter -> status of a method
MARKS: Final = {
    "failingtest": "xfail", "assertfailingtest": "xfail", "skippedtest": "skipped", "solotest": "focused",
}  # fmt: skip
#: how methods of its tests begin -> status
METHODS: Final = {
    "test": None, "solo_test": "focused", "fail_test": "xfail", "solo_fail_test": "xfail", "skip_test": "skipped",
}  # fmt: skip
REFLECTIVE: Final = "reflectivetest"
