"""Names of checks in C++: macros of GoogleTest, Catch2, doctest and Boost.Test, and matchers of the first two."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a macro checks.  subject, expected, tolerance, message: places of its arguments; None: it has none."""

    relation: str
    negated: bool = False
    subject: int | None = 0
    expected: int | None = None
    tolerance: int | None = None
    message: int | None = None


EQUAL: Final = Meaning("equal", expected=1)
_ORDERS: Final[dict[str, Meaning]] = {
    "EQ": EQUAL, "NE": Meaning("equal", True, expected=1), "LT": Meaning("less", expected=1),
    "LE": Meaning("less_equal", expected=1), "GT": Meaning("greater", expected=1),
    "GE": Meaning("greater_equal", expected=1),
}  # fmt: skip
_RAISES: Final = Meaning("raises", expected=1)
_CALM: Final = Meaning("raises", True)
_DEATH: Final = Meaning("raises", message=1)
_GTEST: Final[dict[str, Meaning]] = {
    **_ORDERS,
    **dict.fromkeys(("STREQ", "STRCASEEQ"), EQUAL),
    **dict.fromkeys(("STRNE", "STRCASENE"), Meaning("equal", True, expected=1)),
    **dict.fromkeys(("FLOAT_EQ", "DOUBLE_EQ"), Meaning("approximate", expected=1)),
    "NEAR": Meaning("approximate", expected=1, tolerance=2),
    "THROW": _RAISES, "ANY_THROW": Meaning("raises"), "NO_THROW": _CALM, "OK": _CALM,
    "OK_AND_ASSIGN": Meaning("raises", True, subject=1),
    **dict.fromkeys(("DEATH", "DEATH_IF_SUPPORTED", "DEBUG_DEATH"), _DEATH),
    "EXIT": Meaning("raises", expected=1, message=2),
    **dict.fromkeys(("PRED1", "PRED2", "PRED3"), Meaning("custom", subject=1, expected=0)),
    **dict.fromkeys(("PRED_FORMAT1", "PRED_FORMAT2", "PRED_FORMAT3"), Meaning("custom", subject=1, expected=0)),
    **dict.fromkeys(("FATAL_FAILURE", "NONFATAL_FAILURE"), Meaning("raises", message=1)),
    "NO_FATAL_FAILURE": _CALM,
}  # fmt: skip
_CATCH: Final[dict[str, Meaning]] = {
    **_ORDERS,
    "THROWS": Meaning("raises"), "THROWS_AS": _RAISES, "THROWS_WITH": _DEATH, "NOTHROW": _CALM,
    "THROWS_MATCHES": Meaning("raises", expected=1, message=2),
    "THROWS_WITH_AS": Meaning("raises", expected=2, message=1),
}  # fmt: skip
_BOOST: Final[dict[str, Meaning]] = {
    **_ORDERS,
    "EQUAL": EQUAL, "BITWISE_EQUAL": EQUAL, "EQUAL_COLLECTIONS": Meaning("equal", expected=2),
    **dict.fromkeys(("CLOSE", "CLOSE_FRACTION"), Meaning("approximate", expected=1, tolerance=2)),
    "SMALL": Meaning("approximate", tolerance=1), "THROW": _RAISES, "NO_THROW": _CALM, "EXCEPTION": _RAISES,
    "PREDICATE": Meaning("custom", expected=1),
}  # fmt: skip
#: prefixes of these
_OWNERS: Final = (
    (("EXPECT_", "ASSERT_", "GTEST_EXPECT_", "GTEST_ASSERT_"), _GTEST),
    (("CHECK_", "REQUIRE_", "CATCH_CHECK_", "CATCH_REQUIRE_", "DOCTEST_CHECK_", "DOCTEST_REQUIRE_"), _CATCH),
    (("BOOST_CHECK_", "BOOST_REQUIRE_"), _BOOST),
)
MACROS: Final[Mapping[str, Meaning]] = {
    f"{prefix}{name}": meaning for prefixes, table in _OWNERS for prefix in prefixes for name, meaning in table.items()
}


def _conditions() -> Iterator[tuple[str, bool]]:
    for word in ("EXPECT", "ASSERT", "GTEST_EXPECT", "GTEST_ASSERT"):
        yield from ((f"{word}_TRUE", False), (f"{word}_FALSE", True))
    for word in ("CHECK", "REQUIRE", "CATCH_CHECK", "CATCH_REQUIRE", "DOCTEST_CHECK", "DOCTEST_REQUIRE"):
        yield from ((word, False), (f"{word}_FALSE", True), (f"{word}_MESSAGE", False), (f"{word}_FALSE_MESSAGE", True))
        yield from ((f"{word}_UNARY", False), (f"{word}_UNARY_FALSE", True))
    for word in ("BOOST_TEST", "BOOST_TEST_REQUIRE", "BOOST_TEST_CHECK", "BOOST_CHECK", "BOOST_REQUIRE"):
        yield word, False
    yield from (("BOOST_CHECK_MESSAGE", False), ("BOOST_REQUIRE_MESSAGE", False), ("assert", False))


#: macros that take a condition -> whether it must not hold
CONDITIONS: Final[Mapping[str, bool]] = dict(_conditions())
#: of these, those whose commas belong to the condition
WHOLE: Final = frozenset(
    name for name in CONDITIONS if name.startswith(("CHECK", "REQUIRE", "CATCH_", "DOCTEST_", "assert"))
)
#: macros that take a value and a matcher
MATCHED: Final = frozenset(
    f"{word}_THAT" for word in ("EXPECT", "ASSERT", "CHECK", "REQUIRE", "CATCH_CHECK", "CATCH_REQUIRE")
)
CALLED: Final = "EXPECT_CALL"
#: how macros of the repository are called that check something, as those of a library are
OTHERS: Final = re.compile(r"(?:GTEST_|CATCH_|DOCTEST_|BOOST_)?(?:EXPECT|ASSERT|CHECK|REQUIRE)_[A-Z][A-Z0-9_]*+")
#: those that are called so and fail no test
IDLE: Final = frozenset({"CHECK_NOFAIL", "CATCH_CHECK_NOFAIL"})
#: macros that fail a test
FAILS: Final = frozenset(
    {"FAIL", "ADD_FAILURE", "ADD_FAILURE_AT", "GTEST_FAIL", "FAIL_CHECK", "CATCH_FAIL", "CATCH_FAIL_CHECK",
     "DOCTEST_FAIL", "DOCTEST_FAIL_CHECK", "BOOST_FAIL", "BOOST_ERROR"}
)  # fmt: skip
#: matchers; the first argument is what is expected
MATCHERS: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(("Eq", "StrEq", "StrCaseEq", "Equals", "EqualsProto", "ContainerEq"), ("equal", False)),
    **dict.fromkeys(("UnorderedEquals", "RangeEquals", "UnorderedRangeEquals", "TypedEq"), ("equal", False)),
    **dict.fromkeys(("Ne", "StrNe", "StrCaseNe"), ("equal", True)), "Ref": ("identical", False),
    "Gt": ("greater", False), "Ge": ("greater_equal", False), "Lt": ("less", False), "Le": ("less_equal", False),
    "IsNull": ("none", False), "NotNull": ("none", True), "IsTrue": ("truthy", False), "IsFalse": ("truthy", True),
    **dict.fromkeys(("HasSubstr", "Contains", "ContainsSubstring", "VectorContains"), ("contains", False)),
    **dict.fromkeys(("MatchesRegex", "ContainsRegex", "Matches"), ("matches", False)),
    "StartsWith": ("starts_with", False), "EndsWith": ("ends_with", False), "IsEmpty": ("empty", False),
    "SizeIs": ("length", False), "IsOk": ("raises", True), "StatusIs": ("raises", False),
    **dict.fromkeys(("DoubleEq", "FloatEq", "DoubleNear", "FloatNear"), ("approximate", False)),
    **dict.fromkeys(("WithinAbs", "WithinRel", "WithinULP", "Approx"), ("approximate", False)),
}  # fmt: skip
#: matchers whose whole text is what is expected
SHAPES: Final = frozenset(
    {"ElementsAre", "ElementsAreArray", "UnorderedElementsAre", "UnorderedElementsAreArray", "Pointee", "Optional",
     "Pair", "Field", "Property", "FieldsAre", "VariantWith", "AllOf", "AnyOf", "IsOkAndHolds"}
)  # fmt: skip
#: methods in a condition, without arguments -> relation, and whether it must not hold; with one; functions with two
STATES: Final[dict[str, tuple[str, bool]]] = {"empty": ("empty", False), "has_value": ("none", True)}
TRUTHS: Final = {"contains": "contains", "starts_with": "starts_with", "ends_with": "ends_with"}
FUNCTIONS: Final = {
    "StrContains": "contains", "StartsWith": "starts_with", "EndsWith": "ends_with", "HasPrefix": "starts_with",
    "HasSuffix": "ends_with",
}  # fmt: skip
LENGTHS: Final = ("size", "length")
#: operators -> relation, and whether it must not hold
OPERATORS: Final[dict[bytes, tuple[str, bool]]] = {
    b"==": ("equal", False), b"!=": ("equal", True), b"<": ("less", False), b"<=": ("less_equal", False),
    b">": ("greater", False), b">=": ("greater_equal", False),
}  # fmt: skip
