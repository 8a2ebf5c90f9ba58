"""Names of checks in Java and Kotlin: functions that assert, where they come from, and links of a chain."""

from typing import Final, Literal, NamedTuple

#: what a function takes: what is expected and the subject; the subject alone; the subject and what is expected; a type
#: and the subject; nothing
Takes = Literal["pair", "one", "subject", "type", "none"]
#: where a library has the message, and which side it has first
Order = Literal["message_first", "message_last", "actual_first"]


class Meaning(NamedTuple):
    """What a function checks."""

    relation: str
    takes: Takes = "pair"
    negated: bool = False


#: classes and packages whose functions are those below
HOMES: Final[dict[str, Order]] = {
    "org.junit.Assert": "message_first",
    "junit.framework.Assert": "message_first",
    "junit.framework.TestCase": "message_first",
    "org.testng.AssertJUnit": "message_first",
    "org.junit.jupiter.api.Assertions": "message_last",
    "org.junit.jupiter.api": "message_last",
    "kotlin.test": "message_last",
    "org.testng.Assert": "actual_first",
}
#: beginnings of the imports of a file that tell which of them its base classes give
HINTS: Final[dict[str, Order]] = {
    "org.testng.": "actual_first", "org.junit.jupiter.": "message_last", "kotlin.test.": "message_last",
}  # fmt: skip
#: where functions come from that check, whatever their names
LIBRARIES: Final = (
    "org.junit.", "junit.framework.", "org.testng.", "kotlin.test.", "org.assertj.", "com.google.common.truth.",
    "org.hamcrest.", "org.mockito.", "io.kotest.", "org.amshove.kluent.", "assertk.", "strikt.", "io.mockk.",
    "org.springframework.test.", "com.tngtech.archunit.", "org.skyscreamer.", "org.xmlunit.", "org.awaitility.",
)  # fmt: skip
ASSERTS: Final[dict[str, Meaning]] = {
    **dict.fromkeys(
        ("assertEquals", "assertArrayEquals", "assertIterableEquals", "assertContentEquals", "assertLinesMatch",
         "assertEqualsNoOrder", "assertEqualsDeep"),
        Meaning("equal"),
    ),
    **dict.fromkeys(("assertNotEquals", "assertArrayNotEquals", "assertNotEqualsDeep"), Meaning("equal", "pair", True)),
    "assertSame": Meaning("identical"),
    "assertNotSame": Meaning("identical", "pair", True),
    "assertTrue": Meaning("truthy", "one"),
    "assertFalse": Meaning("truthy", "one", True),
    "assertNull": Meaning("none", "one"),
    "assertNotNull": Meaning("none", "one", True),
    "assertContains": Meaning("contains", "subject"),
    "assertNotContains": Meaning("contains", "subject", True),
    **dict.fromkeys(("assertInstanceOf", "assertIs"), Meaning("type", "type")),
    "assertIsNot": Meaning("type", "type", True),
    **dict.fromkeys(
        ("assertThrows", "assertThrowsExactly", "assertFailsWith", "expectThrows", "assertFails"),
        Meaning("raises", "type"),
    ),
    "assertDoesNotThrow": Meaning("raises", "one", True),
    "fail": Meaning("fails", "none"),
}  # fmt: skip
#: those that only hold other checks, or begin one
HOLDERS: Final = frozenset(
    {"assertAll", "assertSoftly", "assertThat", "assertWithMessage", "assertLazily", "assertArg", "assertThatCode"}
)
#: the rule of JUnit 4 for what has to be thrown, and its methods -> whether they say the message
RULE: Final = "org.junit.rules.ExpectedException"
RULES: Final = {"expect": False, "expectMessage": True}
#: words in the name of a value that is a tolerance
TOLERANCES: Final = ("delta", "eps", "toler", "precision", "accuracy")
#: operators in a condition of `assert` -> (relation, negated)
OPERATORS: Final[dict[str, tuple[str, bool]]] = {
    "==": ("equal", False), "!=": ("equal", True), "===": ("identical", False), "!==": ("identical", True),
    ">": ("greater", False), ">=": ("greater_equal", False), "<": ("less", False), "<=": ("less_equal", False),
    "is": ("type", False), "!is": ("type", True), "instanceof": ("type", False), "in": ("contains", False),
    "!in": ("contains", True),
}  # fmt: skip
#: methods in such a condition -> relation
TRUTHS: Final = {
    "equals": "equal", "contains": "contains", "startsWith": "starts_with", "endsWith": "ends_with",
    "matches": "matches",
}  # fmt: skip
