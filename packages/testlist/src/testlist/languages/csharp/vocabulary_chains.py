"""Names of checks in C# that stand in chains: NUnit's constraints, FluentAssertions and Shouldly."""

from typing import Final

#: what a constraint of NUnit begins with; `Throws` is of an exception from there to its end
BEGINNINGS: Final = frozenset({"Is", "Has", "Does", "Contains", "Iz"})
THROWS: Final = "Throws"
#: words that turn what follows
TURNS: Final = frozenset({"Not", "No"})
#: words that begin another constraint of the same value, and that let one of two hold
AND: Final = frozenset({"And", "With"})
OR: Final = "Or"
#: words about a part of the value; `Some` and `Member` are about one of many
SIZES: Final = frozenset({"Count", "Length"})
PARTS: Final = frozenset({"Message", "InnerException", "ItemAt", "Property"})
SOME: Final = frozenset({"Some", "One"})
#: words behind a constraint that say how to compare
HOW: Final = frozenset({
    "IgnoreCase", "Using", "UsingPropertiesComparer", "AsCollection", "NoClip", "Seconds", "Minutes", "Milliseconds",
    "Hours", "Days", "Ticks", "Percent", "Ulps", "Items", "After", "WithSameOffset", "IgnoreWhiteSpace", "Exactly",
})  # fmt: skip
WITHIN: Final = "Within"
#: constraints -> relation; the first argument is what is expected
CONSTRAINTS: Final[dict[str, str]] = {
    **dict.fromkeys(("EqualTo", "EquivalentTo"), "equal"),
    "SameAs": "identical",
    **dict.fromkeys(("Null", "Default"), "none"),
    **dict.fromkeys(("True", "Exist"), "truthy"),
    "Empty": "empty",
    **dict.fromkeys(("GreaterThan",), "greater"),
    **dict.fromkeys(("GreaterThanOrEqualTo", "AtLeast"), "greater_equal"),
    **dict.fromkeys(("LessThan",), "less"),
    **dict.fromkeys(("LessThanOrEqualTo", "AtMost"), "less_equal"),
    **dict.fromkeys(("Contain", "Item", "Substring", "Member", "Contains", "SupersetOf"), "contains"),
    **dict.fromkeys(("StartWith", "StartsWith"), "starts_with"),
    **dict.fromkeys(("EndWith", "EndsWith"), "ends_with"),
    "Match": "matches",
    **dict.fromkeys(("TypeOf", "InstanceOf", "AssignableFrom", "AssignableTo"), "type"),
    **dict.fromkeys(("Key", "ContainKey", "Attribute"), "has"),
}  # fmt: skip
#: constraints that say the opposite of a relation
OPPOSITES: Final = {"False": "truthy"}
#: the method that begins a check of FluentAssertions, and the class of Shouldly that takes functions
SHOULD: Final = "Should"
#: matchers of FluentAssertions after `Should()`, and of Shouldly after `Should`; also with `Not` before them
MATCHERS: Final[dict[str, str]] = {
    **dict.fromkeys(("Be", "Equal", "BeEquivalentTo", "HaveStatusCode"), "equal"),
    "BeSameAs": "identical",
    **dict.fromkeys(("BeTrue", "Exist"), "truthy"),
    "BeNull": "none",
    **dict.fromkeys(("BeEmpty", "BeNullOrEmpty", "BeNullOrWhiteSpace"), "empty"),
    **dict.fromkeys(("HaveCount", "HaveLength", "ContainSingle", "HaveSingleItem", "HaveSameCount"), "length"),
    **dict.fromkeys(("Contain", "ContainEquivalentOf", "ContainInOrder", "ContainAll"), "contains"),
    "StartWith": "starts_with",
    "EndWith": "ends_with",
    **dict.fromkeys(("Match", "MatchRegex", "MatchEquivalentOf"), "matches"),
    **dict.fromkeys(("BeOfType", "BeAssignableTo", "BeOfExactType"), "type"),
    **dict.fromkeys(("ContainKey", "ContainKeyAndValue", "HaveProperty", "HaveElement", "HaveAttribute"), "has"),
    **dict.fromkeys(("BeGreaterThan", "BeAfter"), "greater"),
    **dict.fromkeys(("BeGreaterThanOrEqualTo", "BeGreaterOrEqualTo", "BeOnOrAfter"), "greater_equal"),
    **dict.fromkeys(("BeLessThan", "BeBefore"), "less"),
    **dict.fromkeys(("BeLessThanOrEqualTo", "BeLessOrEqualTo", "BeOnOrBefore"), "less_equal"),
    **dict.fromkeys(("BeApproximately", "BeCloseTo"), "approximate"),
    **dict.fromkeys(("Throw", "ThrowExactly", "ThrowAsync", "ThrowExactlyAsync", "ThrowWithinAsync"), "raises"),
}  # fmt: skip
FALSE: Final = "BeFalse"
#: links behind a check of FluentAssertions that say more of it, and begin none
MORE: Final = ("With", "Where", "Which", "Whose", "And", "Using", "Subject", "As")
MESSAGE: Final = "WithMessage"
