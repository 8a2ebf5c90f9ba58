"""Names of matchers: Hamcrest's, and what follows `should` in Kotest and Kluent."""

from typing import Final

#: matchers of Hamcrest -> (relation, negated); the first argument is what is expected
MATCHERS: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(
        ("equalTo", "equalToObject", "equalToIgnoringCase", "comparesEqualTo", "containsInAnyOrder", "contains",
         "arrayContaining", "arrayContainingInAnyOrder", "hasToString", "IsEqual", "isEqualTo"),
        ("equal", False),
    ),
    **dict.fromkeys(("sameInstance", "theInstance"), ("identical", False)),
    "nullValue": ("none", False),
    "notNullValue": ("none", True),
    **dict.fromkeys(
        ("empty", "emptyString", "emptyIterable", "emptyArray", "emptyOrNullString", "isEmptyString", "anEmptyMap",
         "isEmptyOrNullString", "blankString", "emptyCollectionOf", "emptyIterableOf"),
        ("empty", False),
    ),
    **dict.fromkeys(
        ("hasItem", "hasItems", "hasItemInArray", "containsString", "containsStringIgnoringCase", "hasEntry",
         "hasValue"),
        ("contains", False),
    ),
    **dict.fromkeys(("hasKey", "hasProperty", "hasXPath"), ("has", False)),
    **dict.fromkeys(("hasSize", "arrayWithSize", "iterableWithSize", "aMapWithSize", "hasLength"), ("length", False)),
    **dict.fromkeys(("instanceOf", "isA", "any", "typeCompatibleWith"), ("type", False)),
    "startsWith": ("starts_with", False),
    "endsWith": ("ends_with", False),
    **dict.fromkeys(("matchesPattern", "matchesRegex"), ("matches", False)),
    "greaterThan": ("greater", False),
    "greaterThanOrEqualTo": ("greater_equal", False),
    "lessThan": ("less", False),
    "lessThanOrEqualTo": ("less_equal", False),
    "closeTo": ("approximate", False),
}  # fmt: skip
#: of these, those that compare a collection with the values that they are given
COLLECTIONS: Final = frozenset({"containsInAnyOrder", "contains", "arrayContaining", "arrayContainingInAnyOrder"})
#: matchers that hold one, or a value, and those that hold several of which each has to match
IS: Final = frozenset({"is", "describedAs"})
NOT: Final = "not"
ALL: Final = frozenset({"allOf", "both"})
#: what follows `should` or `shouldNot`, or is given to them with a small letter -> relation
SHOULDS: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("Be", "BeExactly", "BeEqual", "Equal", "BeEqualTo", "ContainExactly", "ContainExactlyInAnyOrder",
         "ContainSame", "BeEqualIgnoringCase", "BeEqualComparingTo", "BeEqualToComparingFields", "EqualJson",
         "ContainOnly", "BeEqualToUsingFields"),
        "equal",
    ),
    **dict.fromkeys(("BeSameInstanceAs", "BeTheSameInstanceAs", "BeTheSameAs"), "identical"),
    **dict.fromkeys(("BeNull",), "none"),
    **dict.fromkeys(("BeTrue", "BeVisible", "Exist"), "truthy"),
    **dict.fromkeys(("BeEmpty", "BeBlank", "BeNullOrEmpty"), "empty"),
    **dict.fromkeys(
        ("Contain", "ContainAll", "ContainInOrder", "ContainAnyOf", "Include", "ContainValue", "ContainOnlyOnce",
         "ContainIgnoringCase"),
        "contains",
    ),
    **dict.fromkeys(("ContainKey", "ContainKeys", "HaveKey", "HaveProperty"), "has"),
    **dict.fromkeys(("HaveSize", "HaveLength", "HaveCount"), "length"),
    **dict.fromkeys(("BeInstanceOf", "BeTypeOf", "BeOfType"), "type"),
    **dict.fromkeys(("StartWith",), "starts_with"),
    **dict.fromkeys(("EndWith",), "ends_with"),
    **dict.fromkeys(("Match", "MatchRegex"), "matches"),
    **dict.fromkeys(("BeGreaterThan", "BeAfter"), "greater"),
    **dict.fromkeys(("BeGreaterThanOrEqual", "BeGreaterThanOrEqualTo", "BeGreaterOrEqualTo"), "greater_equal"),
    **dict.fromkeys(("BeLessThan", "BeBefore"), "less"),
    **dict.fromkeys(("BeLessThanOrEqual", "BeLessThanOrEqualTo", "BeLessOrEqualTo"), "less_equal"),
    **dict.fromkeys(("Throw", "ThrowExactly", "ThrowAny", "ThrowUnit", "ThrowSoftly", "ThrowMessage",
                     "ThrowWithMessage"), "raises"),
}  # fmt: skip
#: of these, the opposites of a relation
FALSE_SHOULDS: Final = {"BeFalse": "truthy"}
#: what is expected with a tolerance: `3.0 plusOrMinus 0.1`
APPROXIMATE: Final = "plusOrMinus"
#: packages whose functions after `should` check by any name
SHOULD_LIBRARIES: Final = ("io.kotest.", "io.kotlintest.", "org.amshove.kluent.")
