"""Names of Objective-C's test frameworks: XCTest, and those that write tests as blocks with a title."""

from typing import Final

#: the class that every test case ends in, and by what names a class of somebody else's shows that it is one
CASE: Final = "XCTestCase"
OUTSIDE: Final = ("TestCase", "Tests", "Test")
#: whose a macro is that Kiwi and Cedar both have
EITHER: Final = "either"
#: macros that begin a file of examples -> whose they are
BEGINS: Final = {
    "QuickSpecBegin": "quick-objc", "QuickConfigurationBegin": "quick-objc",
    "SpecBegin": "specta", "SharedExamplesBegin": "specta", "SPEC_BEGIN": EITHER, "SHARED_EXAMPLES_BEGIN": "kiwi",
    "SHARED_EXAMPLE_GROUPS_BEGIN": "cedar",
}  # fmt: skip
ENDS: Final = frozenset(
    {"QuickSpecEnd", "QuickConfigurationEnd", "SpecEnd", "SharedExamplesEnd", "SPEC_END", "SHARED_EXAMPLES_END",
     "SHARED_EXAMPLE_GROUPS_END"}
)  # fmt: skip
GROUPS: Final = frozenset({"describe", "context"})
#: groups of examples that run wherever one is named
SHARED: Final = frozenset({"sharedExamples", "sharedExamplesFor"})
EXAMPLES: Final = frozenset({"it", "specify", "example"})
#: an example that never runs
PENDING: Final = "pending"
#: what stands before a word: Quick's own prefix, and letters that give a status
PREFIXES: Final = {"x": "skipped", "f": "focused"}
#: values that are known
YES: Final = frozenset({b"YES", b"true", b"1"})
NO: Final = frozenset({b"NO", b"false", b"0"})
