"""Names of checks in C#: methods of xUnit's, NUnit's and MSTest's `Assert` and of the classes beside it."""

from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a method checks.  subject, expected: places of its arguments; None: it has none.

    typed: a type argument, or the argument that is a type, is what is expected.
    """

    relation: str
    subject: int | None = 0
    expected: int | None = None
    negated: bool = False
    typed: bool = False


#: classes with the methods below, by what comes first in `Contains` and the like
OWNERS: Final = frozenset({"Assert", "ClassicAssert", "CollectionAssert", "StringAssert", "FileAssert"})
COLLECTIONS: Final = "CollectionAssert"
STRINGS: Final = "StringAssert"
#: what the names of other classes of this kind end in
ENDINGS: Final = ("Assert", "AssertEx", "Asserts")
THAT: Final = frozenset({"That", "ThatAsync"})
#: what methods of other classes are called that check
ASSERT: Final = "Assert"
#: methods that run a function on each of several
EACH: Final = frozenset({"All", "AllAsync"})
#: methods that check nothing themselves
SILENT: Final = frozenset({
    "Multiple", "MultipleAsync", "EnterMultipleScope", *EACH, "Pass", "Ignore", "Inconclusive", "Skip",
    "SkipWhen", "SkipUnless", "SkipTestIfAny", "Warn", "Equals", "ReferenceEquals", "Charlie", "ByVal", "Scope",
})  # fmt: skip
#: what fails a test whatever it is given
FAIL: Final = "Fail"
ASSERTS: Final[dict[str, Meaning]] = {
    **dict.fromkeys(("Equal", "AreEqual", "StrictEqual", "AreEquivalent", "Equivalent", "EquivalentWithExclusions",
                     "AreEqualIgnoringCase"), Meaning("equal", 1, 0)),
    **dict.fromkeys(("NotEqual", "AreNotEqual", "NotStrictEqual", "AreNotEquivalent", "AreNotEqualIgnoringCase"),
                    Meaning("equal", 1, 0, negated=True)),
    **dict.fromkeys(("Same", "AreSame"), Meaning("identical", 1, 0)),
    **dict.fromkeys(("NotSame", "AreNotSame"), Meaning("identical", 1, 0, negated=True)),
    **dict.fromkeys(("True", "IsTrue"), Meaning("truthy")),
    **dict.fromkeys(("False", "IsFalse"), Meaning("truthy", negated=True)),
    **dict.fromkeys(("Null", "IsNull"), Meaning("none")),
    **dict.fromkeys(("NotNull", "IsNotNull"), Meaning("none", negated=True)),
    **dict.fromkeys(("Empty", "IsEmpty"), Meaning("empty")),
    **dict.fromkeys(("NotEmpty", "IsNotEmpty"), Meaning("empty", negated=True)),
    **dict.fromkeys(("Single", "ContainsSingle"), Meaning("length")),
    **dict.fromkeys(("HasCount",), Meaning("length", 1, 0)),
    "Contains": Meaning("contains", 1, 0),
    "DoesNotContain": Meaning("contains", 1, 0, negated=True),
    "IsSubsetOf": Meaning("contains", 1, 0),
    "IsNotSubsetOf": Meaning("contains", 1, 0, negated=True),
    "StartsWith": Meaning("starts_with", 1, 0),
    "DoesNotStartWith": Meaning("starts_with", 1, 0, negated=True),
    "EndsWith": Meaning("ends_with", 1, 0),
    "DoesNotEndWith": Meaning("ends_with", 1, 0, negated=True),
    **dict.fromkeys(("Matches", "IsMatch", "MatchesRegex"), Meaning("matches", 1, 0)),
    **dict.fromkeys(("DoesNotMatch", "DoesNotMatchRegex"), Meaning("matches", 1, 0, negated=True)),
    **dict.fromkeys(("IsType", "IsAssignableFrom", "IsInstanceOf", "IsInstanceOfType", "IsExactInstanceOfType",
                     "AllItemsAreInstancesOfType"), Meaning("type", 1, 0, typed=True)),
    **dict.fromkeys(("IsNotType", "IsNotAssignableFrom", "IsNotInstanceOf", "IsNotInstanceOfType",
                     "IsNotExactInstanceOfType"), Meaning("type", 1, 0, negated=True, typed=True)),
    "Greater": Meaning("greater", 0, 1),
    "GreaterOrEqual": Meaning("greater_equal", 0, 1),
    "Less": Meaning("less", 0, 1),
    "LessOrEqual": Meaning("less_equal", 0, 1),
    "IsGreaterThan": Meaning("greater", 1, 0),
    "IsGreaterThanOrEqualTo": Meaning("greater_equal", 1, 0),
    "IsLessThan": Meaning("less", 1, 0),
    "IsLessThanOrEqualTo": Meaning("less_equal", 1, 0),
    "Exists": Meaning("truthy"),
    "DoesNotExist": Meaning("truthy", negated=True),
    **dict.fromkeys(("Throws", "ThrowsAsync", "ThrowsAny", "ThrowsAnyAsync", "ThrowsExactly", "ThrowsExactlyAsync",
                     "ThrowsException", "ThrowsExceptionAsync", "Catch", "CatchAsync"),
                    Meaning("raises", typed=True)),
    **dict.fromkeys(("DoesNotThrow", "DoesNotThrowAsync"), Meaning("raises", negated=True)),
    FAIL: Meaning("fails", None),
}  # fmt: skip
#: operators of a condition under which a test fails -> (relation, negated), and methods with one argument in it
OPERATORS: Final[dict[str, tuple[str, bool]]] = {
    "==": ("equal", False), "!=": ("equal", True), "<": ("less", False), "<=": ("less_equal", False),
    ">": ("greater", False), ">=": ("greater_equal", False),
}  # fmt: skip
TRUTHS: Final = {
    "Contains": "contains", "ContainsKey": "has", "StartsWith": "starts_with", "EndsWith": "ends_with",
    "Equals": "equal", "SequenceEqual": "equal",
}  # fmt: skip
#: what a class of doubles demands: of NSubstitute before the call, of FakeItEasy behind it -> whether it must not come
RECEIVED: Final = {
    "Received": False, "ReceivedWithAnyArgs": False, "DidNotReceive": True, "DidNotReceiveWithAnyArgs": True,
}  # fmt: skip
HAPPENED: Final = {"MustHaveHappened": False, "MustNotHaveHappened": True}
#: methods of a mock of Moq
VERIFIES: Final = frozenset({"Verify", "VerifyGet", "VerifySet", "VerifyAdd", "VerifyRemove"})
VERIFIES_ALL: Final = frozenset({"VerifyAll", "Verify"})
NEVER: Final = "Never"
