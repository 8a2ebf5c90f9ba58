"""Names of checks in Swift: functions of XCTest and of libraries around it, and matchers of Nimble."""

import re
from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a function checks.  subject, expected: places of its arguments; None: it has none."""

    relation: str
    negated: bool = False
    subject: int | None = 0
    expected: int | None = None


#: functions that take a condition -> whether it must not hold
CONDITIONS: Final = {"XCTAssert": False, "XCTAssertTrue": False, "XCTAssertFalse": True}
FUNCTIONS: Final[dict[str, Meaning]] = {
    "XCTAssertEqual": Meaning("equal", expected=1),
    "XCTAssertNotEqual": Meaning("equal", True, expected=1),
    "XCTAssertIdentical": Meaning("identical", expected=1),
    "XCTAssertNotIdentical": Meaning("identical", True, expected=1),
    "XCTAssertNil": Meaning("none"),
    "XCTAssertNotNil": Meaning("none", True),
    "XCTUnwrap": Meaning("none", True),
    "XCTAssertGreaterThan": Meaning("greater", expected=1),
    "XCTAssertGreaterThanOrEqual": Meaning("greater_equal", expected=1),
    "XCTAssertLessThan": Meaning("less", expected=1),
    "XCTAssertLessThanOrEqual": Meaning("less_equal", expected=1),
    "XCTAssertThrowsError": Meaning("raises"),
    "XCTAssertNoThrow": Meaning("raises", True),
    "XCTAssertEqualWithAccuracy": Meaning("approximate", expected=1),
    "XCTAssertNoDifference": Meaning("equal", expected=1),
    "expectNoDifference": Meaning("equal", expected=1),
    **dict.fromkeys(("assertSnapshot", "assertSnapshots", "assertInlineSnapshot"), Meaning("snapshot")),
    **dict.fromkeys(("assertMacro", "assertMacroExpansion"), Meaning("custom")),
}
#: how other functions that check something begin
OTHERS: Final = re.compile(r"(?:XCTA|A|a)ssert(?![a-z])")
#: functions of the language, which end the program, and of libraries that only prepare
NO_CHECKS: Final = frozenset({"assertionFailure", "assert"})
#: macros of Swift Testing
MACROS: Final = frozenset({"expect", "require"})
NEVER: Final = frozenset({"Never.self", "Swift.Never.self"})
#: what begins a check of Nimble, and the links that hold its matcher -> whether they turn it
NIMBLE: Final = frozenset({"expect", "expecta", "expects", "expectas", "require", "requirea", "requires", "requireas"})
LINKS: Final = {
    "to": False, "toEventually": False, "toAlways": False, "toNot": True, "notTo": True, "toEventuallyNot": True,
    "toNotEventually": True, "toNever": True, "alwaysTo": False, "neverTo": True,
}  # fmt: skip
MATCHERS: Final[dict[str, tuple[str, bool]]] = {
    "equal": ("equal", False), "be": ("identical", False), "beIdenticalTo": ("identical", False),
    "beNil": ("none", False), "beTrue": ("truthy", False), "beFalse": ("truthy", True),
    "beTruthy": ("truthy", False), "beFalsy": ("truthy", True), "beEmpty": ("empty", False),
    "contain": ("contains", False), "containElementSatisfying": ("contains", False), "haveCount": ("length", False),
    "beGreaterThan": ("greater", False), "beGreaterThanOrEqualTo": ("greater_equal", False),
    "beLessThan": ("less", False), "beLessThanOrEqualTo": ("less_equal", False),
    "beCloseTo": ("approximate", False), "beAKindOf": ("type", False), "beAnInstanceOf": ("type", False),
    "match": ("matches", False), "beginWith": ("starts_with", False), "endWith": ("ends_with", False),
    "throwError": ("raises", False), "throwAssertion": ("raises", False), "raiseException": ("raises", False),
    "beSuccess": ("raises", True), "beFailure": ("raises", False), "postNotifications": ("called", False),
}  # fmt: skip
#: methods with one argument, in a condition -> relation
TRUTHS: Final = {"contains": "contains", "hasPrefix": "starts_with", "hasSuffix": "ends_with", "starts": "starts_with"}
#: operators -> relation, and whether it must not hold
OPERATORS: Final[dict[str, tuple[str, bool]]] = {
    "==": ("equal", False), "!=": ("equal", True), "===": ("identical", False), "!==": ("identical", True),
    "<": ("less", False), "<=": ("less_equal", False), ">": ("greater", False), ">=": ("greater_equal", False),
    "~=": ("matches", False),
}  # fmt: skip
