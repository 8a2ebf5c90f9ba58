"""Names of checks in PHP: methods of PHPUnit, and those that Laravel's answers and doubles have besides."""

from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a method checks.  subject, expected, tolerance: places of its arguments; None: it has none."""

    relation: str
    subject: int | None = 0
    expected: int | None = None
    negated: bool = False
    tolerance: int | None = None


#: classes whose static methods are those of PHPUnit
OWNERS: Final = frozenset({"self", "static", "parent", "Assert", "TestCase", "PHPUnit"})
#: methods after `assert`, which also stands alone; `Same` is the usual way to compare values, and not only objects
ASSERTS: Final[dict[str, Meaning]] = {
    **dict.fromkeys(
        ("Same", "Equals", "EqualsCanonicalizing", "EqualsIgnoringCase", "FileEquals", "StringEqualsFile",
         "StringEqualsStringIgnoringLineEndings", "JsonStringEqualsJsonString", "JsonStringEqualsJsonFile",
         "JsonFileEqualsJsonFile", "XmlStringEqualsXmlString", "XmlStringEqualsXmlFile", "XmlFileEqualsXmlFile",
         "ObjectEquals"),
        Meaning("equal", 1, 0),
    ),
    "EqualsWithDelta": Meaning("approximate", 1, 0, tolerance=2),
    **dict.fromkeys(("True", "", "FileExists", "DirectoryExists", "IsReadable", "IsWritable"), Meaning("truthy")),
    "False": Meaning("truthy", negated=True),
    "Null": Meaning("none"),
    "Empty": Meaning("empty"),
    **dict.fromkeys(("Count", "SameSize"), Meaning("length", 1, 0)),
    **dict.fromkeys(
        ("Contains", "ContainsEquals", "StringContainsString", "StringContainsStringIgnoringCase",
         "StringContainsStringIgnoringLineEndings", "ArraySubset"),
        Meaning("contains", 1, 0),
    ),
    "StringStartsWith": Meaning("starts_with", 1, 0),
    "StringEndsWith": Meaning("ends_with", 1, 0),
    **dict.fromkeys(
        ("MatchesRegularExpression", "RegExp", "StringMatchesFormat", "StringMatchesFormatFile"),
        Meaning("matches", 1, 0),
    ),
    **dict.fromkeys(
        ("InstanceOf", "InternalType", "ContainsOnly", "ContainsOnlyInstancesOf"), Meaning("type", 1, 0)
    ),
    **dict.fromkeys(
        ("IsArray", "IsBool", "IsFloat", "IsInt", "IsNumeric", "IsObject", "IsResource", "IsString", "IsScalar",
         "IsCallable", "IsIterable"),
        Meaning("type"),
    ),
    **dict.fromkeys(("ArrayHasKey", "ObjectHasProperty", "ObjectHasAttribute"), Meaning("has", 1, 0)),
    "GreaterThan": Meaning("greater", 1, 0),
    "GreaterThanOrEqual": Meaning("greater_equal", 1, 0),
    "LessThan": Meaning("less", 1, 0),
    "LessThanOrEqual": Meaning("less_equal", 1, 0),
}  # fmt: skip
#: spellings of a negation -> the method without it
NEGATIONS: Final = (
    ("StringNotContainsString", "StringContainsString"), ("ArrayNotHasKey", "ArrayHasKey"),
    ("ObjectNotHas", "ObjectHas"), ("DoesNotMatch", "Matches"), ("DoesNotExist", "Exists"), ("NotExists", "Exists"),
    ("DirectoryNot", "Directory"), ("FileNot", "File"), ("StringNot", "String"), ("StartsNotWith", "StartsWith"),
    ("EndsNotWith", "EndsWith"), ("IsNot", "Is"), ("Not", ""),
)  # fmt: skip
#: what fails a test whatever it is given
FAIL: Final = "fail"
#: methods before or instead of what must happen; the first argument is what is expected
EXPECTS: Final[dict[str, Meaning]] = {
    **dict.fromkeys(("expectException", "setExpectedException", "expectExceptionObject"), Meaning("raises", None, 0)),
    **dict.fromkeys(("expectOutputString", "expectOutputRegex"), Meaning("logs", None, 0)),
    **dict.fromkeys(
        ("expectDeprecation", "expectWarning", "expectNotice", "expectUserDeprecationMessage"),
        Meaning("warns", None, 0),
    ),
    FAIL: Meaning("fails", None),
}
#: operators of a condition -> (relation, negated), and functions in it
OPERATORS: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(("==", "==="), ("equal", False)), **dict.fromkeys(("!=", "!==", "<>"), ("equal", True)),
    "<": ("less", False), "<=": ("less_equal", False), ">": ("greater", False), ">=": ("greater_equal", False),
    "instanceof": ("type", False),
}  # fmt: skip
TRUTHS: Final[dict[str, Meaning]] = {
    "is_null": Meaning("none"), "is_a": Meaning("type", 0, 1), "in_array": Meaning("contains", 1, 0),
    "str_contains": Meaning("contains", 0, 1), "str_starts_with": Meaning("starts_with", 0, 1),
    "str_ends_with": Meaning("ends_with", 0, 1), "preg_match": Meaning("matches", 1, 0),
    **dict.fromkeys(("array_key_exists", "key_exists"), Meaning("has", 1, 0)),
}  # fmt: skip
#: methods that say which message an expected exception has
MESSAGES: Final = frozenset({
    "expectExceptionMessage", "expectExceptionMessageMatches", "expectExceptionMessageRegExp",
})  # fmt: skip
#: methods after `assert` of what a test has in its hands, such as an answer; the subject is that
RECEIVED: Final[dict[str, Meaning]] = {
    **dict.fromkeys(("Status", "ExitCode", "Content"), Meaning("equal", None, 0)),
    **dict.fromkeys(("Ok", "Successful"), Meaning("truthy", None)),
    **dict.fromkeys(
        ("See", "SeeText", "SeeHtml", "SeeInOrder", "SeeTextInOrder", "Json", "JsonFragment"),
        Meaning("contains", None, 0),
    ),
    **dict.fromkeys(
        ("DontSee", "DontSeeText", "DontSeeHtml", "JsonMissing"), Meaning("contains", None, 0, negated=True)
    ),
    "ExactJson": Meaning("equal", None, 0),
    "JsonPath": Meaning("equal", None, 1),
    "JsonCount": Meaning("length", None, 0),
    **dict.fromkeys(
        ("ViewHas", "SessionHas", "SessionHasErrors", "Header", "Cookie", "JsonValidationErrors", "JsonStructure"),
        Meaning("has", None, 0),
    ),
    **dict.fromkeys(
        ("ViewMissing", "SessionMissing", "HeaderMissing", "CookieMissing"), Meaning("has", None, 0, negated=True)
    ),
    **dict.fromkeys(
        ("Dispatched", "Sent", "Pushed", "Queued", "SentTo", "DispatchedTimes", "SentTimes"),
        Meaning("called", None, 0),
    ),
    **dict.fromkeys(
        ("NotDispatched", "NotSent", "NotPushed", "NotQueued", "NotSentTo"), Meaning("called", None, 0, negated=True)
    ),
}  # fmt: skip
#: methods that say what a command of Laravel prints
PRINTS: Final[dict[str, Meaning]] = {
    **dict.fromkeys(("expectsOutput", "expectsOutputToContain"), Meaning("logs", None, 0)),
    **dict.fromkeys(("doesntExpectOutput", "doesntExpectOutputToContain"), Meaning("logs", None, 0, negated=True)),
}
#: methods after `assert` that a test of Laravel or Symfony has itself
OWN: Final[dict[str, Meaning]] = {
    "DatabaseHas": Meaning("has", 0, 1),
    "DatabaseMissing": Meaning("has", 0, 1, negated=True),
    "DatabaseCount": Meaning("length", 0, 1),
    "ResponseStatusCodeSame": Meaning("equal", None, 0),
    "ResponseIsSuccessful": Meaning("truthy", None),
    "SelectorTextContains": Meaning("contains", 0, 1),
}
#: methods of doubles that demand a call: of Mockery with what is called, and of Prophecy behind it
DEMANDS: Final[dict[str, bool]] = {
    "shouldHaveReceived": False, "shouldNotHaveReceived": True, "shouldNotReceive": True,
}  # fmt: skip
FORESEEN: Final[dict[str, bool]] = {
    "shouldBeCalled": False, "shouldBeCalledOnce": False, "shouldBeCalledTimes": False, "shouldHaveBeenCalled": False,
    "shouldHaveBeenCalledOnce": False, "shouldHaveBeenCalledTimes": False, "shouldNotBeCalled": True,
    "shouldNotHaveBeenCalled": True,
}  # fmt: skip
#: links that make a demand of `shouldReceive`, which else only allows a call
TIMES: Final = frozenset({"once", "twice", "times", "atLeast", "between", "never"})
#: links that say with which arguments
WITH: Final = frozenset({"with", "withArgs", "withConsecutive", "withNoArgs"})
