"""Matchers of Gomega, and assertions of GoConvey."""

from typing import Final, NamedTuple


class Matching(NamedTuple):
    """What a matcher means.  expected: place of its argument."""

    relation: str
    negated: bool = False
    expected: int | None = None


#: what begins a check of Gomega; those with this at the end are given a number before the value
OFFSET: Final = "WithOffset"
GOMEGA: Final = frozenset(
    {"Expect", "Eventually", "Consistently", "Ω", "ExpectWithOffset", "EventuallyWithOffset", "ConsistentlyWithOffset"}
)
#: links that hold its matcher -> whether they turn it
LINKS: Final = {"To": False, "Should": False, "ToNot": True, "NotTo": True, "ShouldNot": True}
MATCHERS: Final[dict[str, Matching]] = {
    **dict.fromkeys(
        ("Equal", "BeEquivalentTo", "BeIdenticalTo", "BeComparableTo", "ConsistOf", "HaveExactElements", "MatchJSON",
         "MatchYAML", "MatchXML"),
        Matching("equal", expected=0),
    ),
    **dict.fromkeys(
        ("ContainElement", "ContainElements", "ContainSubstring", "HaveKey", "HaveKeyWithValue", "Say"),
        Matching("contains", expected=0),
    ),
    **dict.fromkeys(("BeTrue", "BeTrueBecause"), Matching("truthy")),
    **dict.fromkeys(("BeFalse", "BeFalseBecause"), Matching("truthy", True)),
    "BeNil": Matching("none"),
    "BeEmpty": Matching("empty"),
    "BeZero": Matching("empty"),
    "HaveLen": Matching("length", expected=0),
    "HaveOccurred": Matching("raises"),
    "Succeed": Matching("raises", True),
    "MatchError": Matching("raises", expected=0),
    "Panic": Matching("raises"),
    "PanicWith": Matching("raises", expected=0),
    "MatchRegexp": Matching("matches", expected=0),
    "HavePrefix": Matching("starts_with", expected=0),
    "HaveSuffix": Matching("ends_with", expected=0),
    "BeAssignableToTypeOf": Matching("type", expected=0),
}  # fmt: skip
SIGNS: Final = {
    "==": Matching("equal"), "!=": Matching("equal", True), "<": Matching("less"), "<=": Matching("less_equal"),
    ">": Matching("greater"), ">=": Matching("greater_equal"), "~": Matching("approximate"),
}  # fmt: skip
#: matchers whose first argument is a sign, and their second one what it compares with
COMPARED: Final = {"BeNumerically": SIGNS, "BeTemporally": SIGNS}
#: of GoConvey: `So(value, ShouldEqual, wanted)`
SHOULD: Final[dict[str, Matching]] = {
    **dict.fromkeys(("ShouldEqual", "ShouldResemble", "ShouldPointTo", "ShouldEqualJSON"), Matching("equal")),
    **dict.fromkeys(("ShouldNotEqual", "ShouldNotResemble", "ShouldNotPointTo"), Matching("equal", True)),
    **dict.fromkeys(("ShouldContain", "ShouldContainKey", "ShouldContainSubstring"), Matching("contains")),
    **dict.fromkeys(("ShouldNotContain", "ShouldNotContainKey", "ShouldNotContainSubstring"),
                    Matching("contains", True)),
    **dict.fromkeys(("ShouldBeEmpty", "ShouldBeBlank", "ShouldBeZeroValue"), Matching("empty")),
    **dict.fromkeys(("ShouldNotBeEmpty", "ShouldNotBeBlank", "ShouldNotBeZeroValue"), Matching("empty", True)),
    **dict.fromkeys(("ShouldPanic", "ShouldPanicWith", "ShouldBeError", "ShouldWrap"), Matching("raises")),
    **dict.fromkeys(("ShouldNotPanic", "ShouldNotPanicWith"), Matching("raises", True)),
    "ShouldBeNil": Matching("none"), "ShouldNotBeNil": Matching("none", True),
    "ShouldBeTrue": Matching("truthy"), "ShouldBeFalse": Matching("truthy", True),
    "ShouldHaveLength": Matching("length"),
    "ShouldBeGreaterThan": Matching("greater"), "ShouldBeGreaterThanOrEqualTo": Matching("greater_equal"),
    "ShouldBeLessThan": Matching("less"), "ShouldBeLessThanOrEqualTo": Matching("less_equal"),
    "ShouldAlmostEqual": Matching("approximate"), "ShouldNotAlmostEqual": Matching("approximate", True),
    "ShouldStartWith": Matching("starts_with"), "ShouldNotStartWith": Matching("starts_with", True),
    "ShouldEndWith": Matching("ends_with"), "ShouldNotEndWith": Matching("ends_with", True),
    "ShouldHaveSameTypeAs": Matching("type"), "ShouldImplement": Matching("type"),
}  # fmt: skip
