"""Names in chains of checks: AssertJ, Truth, assertk and Strikt, and what Spring's MockMvc expects."""

from typing import Final

#: what begins a chain, with its subject
BEGINNINGS: Final = frozenset(
    {"assertThat", "that", "assertThatObject", "assertThatCollection", "assertThatList", "assertThatIterable",
     "assertThatComparable", "assertThatPath", "assertThatStream", "assertThatJson", "expectThat"}
)  # fmt: skip
#: what does so without an owner, or with that of the second text, if no mock follows
THEN, THEN_OWNER = "then", "BDDAssertions"
#: what begins a chain about something that throws, with the function
THROWING: Final = frozenset({"assertThatThrownBy", "thenThrownBy", "assertThatCode", "thenCode", "expectCatching"})
#: of these, those that check without any link
THROWN: Final = frozenset({"assertThatThrownBy", "thenThrownBy"})
#: what begins one with the type, or with a type in its name: `assertThatIllegalStateException()`
TYPED: Final = "assertThatExceptionOfType"
NO_EXCEPTION: Final = "assertThatNoException"
NAMED_EXCEPTION: Final = r"assertThat([A-Z]\w*Exception)"
THROWN_BY: Final = "isThrownBy"
#: links -> (relation, negated); the first argument is what is expected
LINKS: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(
        ("isEqualTo", "isEqualByComparingTo", "isEqualToComparingFieldByField", "isEqualToIgnoringCase",
         "isEqualToIgnoringWhitespace", "isEqualToIgnoringNewLines", "isEqualToNormalizingNewlines",
         "isEqualToIgnoringGivenFields", "isEqualToComparingFieldByFieldRecursively", "isStrictEqualTo", "hasToString",
         "hasValue", "hasSameElementsAs", "containsExactly", "containsExactlyInAnyOrder", "containsOnly",
         "containsExactlyElementsIn", "containsExactlyElementsOf", "containsExactlyInAnyOrderElementsOf",
         "containsOnlyElementsOf", "containsExactlyEntriesIn", "containsExactlyEntriesOf", "hasSameContentAs",
         "hasBinaryContent", "hasContent"),
        ("equal", False),
    ),
    "isNotEqualTo": ("equal", True),
    **dict.fromkeys(("isSameAs", "isSameInstanceAs", "isTheSameInstanceAs"), ("identical", False)),
    **dict.fromkeys(("isNotSameAs", "isNotSameInstanceAs"), ("identical", True)),
    "isNull": ("none", False),
    "isNotNull": ("none", True),
    **dict.fromkeys(("isTrue", "exists"), ("truthy", False)),
    **dict.fromkeys(("isFalse", "doesNotExist"), ("truthy", True)),
    **dict.fromkeys(("isEmpty", "isNullOrEmpty", "isBlank", "isNotPresent"), ("empty", False)),
    **dict.fromkeys(("isNotEmpty", "isNotBlank", "isPresent"), ("empty", True)),
    **dict.fromkeys(("hasSize", "hasLength", "hasLineCount"), ("length", False)),
    **dict.fromkeys(
        ("contains", "containsAll", "containsAtLeast", "containsAtLeastElementsIn", "containsSequence",
         "containsSubsequence", "containsEntry", "containsValue", "containsIgnoringCase", "containsPattern",
         "containsOnlyOnce"),
        ("contains", False),
    ),
    **dict.fromkeys(
        ("doesNotContain", "containsNoneOf", "containsNoneIn", "containsNone", "doesNotContainEntry",
         "doesNotContainAnyElementsOf"),
        ("contains", True),
    ),
    **dict.fromkeys(
        ("containsKey", "containsKeys", "hasFieldOrProperty", "hasFieldOrPropertyWithValue", "hasAttribute",
         "hasParameter", "containsOnlyKeys", "hasNoNullFieldsOrProperties"),
        ("has", False),
    ),
    **dict.fromkeys(("doesNotContainKey", "doesNotContainKeys"), ("has", True)),
    **dict.fromkeys(("startsWith", "startsWithIgnoringCase"), ("starts_with", False)),
    "doesNotStartWith": ("starts_with", True),
    **dict.fromkeys(("endsWith", "hasExtension"), ("ends_with", False)),
    "doesNotEndWith": ("ends_with", True),
    **dict.fromkeys(("matches", "containsMatch"), ("matches", False)),
    **dict.fromkeys(("doesNotMatch", "doesNotContainMatch"), ("matches", True)),
    **dict.fromkeys(
        ("isInstanceOf", "isExactlyInstanceOf", "hasSameClassAs", "isInstanceOfAny", "isA"), ("type", False)
    ),
    "isNotInstanceOf": ("type", True),
    **dict.fromkeys(("isGreaterThan", "isAfter"), ("greater", False)),
    **dict.fromkeys(("isGreaterThanOrEqualTo", "isAtLeast", "isAfterOrEqualTo"), ("greater_equal", False)),
    **dict.fromkeys(("isLessThan", "isBefore"), ("less", False)),
    **dict.fromkeys(("isLessThanOrEqualTo", "isAtMost", "isBeforeOrEqualTo"), ("less_equal", False)),
    **dict.fromkeys(("isCloseTo", "isEqualToIgnoringSeconds"), ("approximate", False)),
    "isNotCloseTo": ("approximate", True),
}  # fmt: skip
#: beginnings of links that compare a collection with the values that they are given
EXACTLY: Final = ("containsExactly", "containsOnly")
#: links that compare with a number which their name says -> (relation, negated, the number)
NUMBERED: Final[dict[str, tuple[str, bool, int]]] = {
    "isZero": ("equal", False, 0), "isNotZero": ("equal", True, 0), "isOne": ("equal", False, 1),
    "isPositive": ("greater", False, 0), "isNegative": ("less", False, 0), "isNotNegative": ("greater_equal", False, 0),
    "isNotPositive": ("less_equal", False, 0),
}  # fmt: skip
#: Truth's pair of links: the first holds the tolerance, `of` what is expected
WITHIN: Final = {"isWithin": False, "isNotWithin": True}
#: links about the message of what was thrown
MESSAGES: Final = frozenset(
    {"hasMessage", "hasMessageContaining", "hasMessageContainingAll", "hasMessageStartingWith", "hasMessageEndingWith",
     "hasMessageMatching", "hasMessageFindingMatch", "withMessage", "withMessageContaining", "withMessageStartingWith",
     "withMessageEndingWith", "withMessageMatching"}
)  # fmt: skip
NOT_THROWN: Final = frozenset({"doesNotThrowAnyException", "isSuccess"})
#: links that leave the subject as it is, and check nothing
NEUTRAL: Final = r"(?:as|describedAs|overridingErrorMessage|inOrder|satisfies|and|using\w*|with\w*|ignoring\w*|because)"
#: links with other names that check
CHECKING: Final = r"(?:is|has|have|contains|does|matches|starts|ends|all|any|none|are|was)(?:[A-Z]\w*)"
#: of Reactor: what begins a chain, and its links -> relation
VERIFIER: Final = "StepVerifier"
STEPS: Final[dict[str, str]] = {
    **dict.fromkeys(("expectNext", "expectNextSequence"), "equal"), "expectNextCount": "length",
    **dict.fromkeys(("expectError", "verifyError", "expectErrorMessage", "verifyErrorMessage"), "raises"),
    **dict.fromkeys(("expectNextMatches", "expectErrorMatches", "expectErrorSatisfies", "verifyErrorMatches",
                     "expectComplete", "verifyComplete", "expectTimeout", "verifyTimeout"), "custom"),
}  # fmt: skip
#: of Awaitility: what begins a chain, and the link with the condition
AWAITING: Final = frozenset({"await", "waitAtMost"})
UNTIL: Final = "until"
#: of MockMvc: what is given to `andExpect`, by its last call -> relation
EXPECTED: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(("value", "string", "name", "json", "xml", "is", "attribute", "contentType"), ("equal", False)),
    **dict.fromkeys(("exists", "attributeExists", "attributeHasErrors"), ("has", False)),
    **dict.fromkeys(("doesNotExist", "attributeDoesNotExist"), ("has", True)),
}  # fmt: skip
#: of these, those whose first argument names a part of the subject if there are two
KEYED: Final = frozenset({"attribute", "string"})
