"""Names of checks in Python: methods of unittest, of mocks, and functions of libraries."""

from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a method checks.  subject, expected: places of its arguments; None: it has none."""

    relation: str
    negated: bool = False
    subject: int | None = 0
    expected: int | None = 1


#: what fails a test whatever it is given
FAIL: Final = "fail"
#: methods of `unittest.TestCase`
CASE: Final[dict[str, Meaning]] = {
    "assertEqual": Meaning("equal"),
    "assertNotEqual": Meaning("equal", negated=True),
    "assertTrue": Meaning("truthy", expected=None),
    "assertFalse": Meaning("truthy", negated=True, expected=None),
    "assertIs": Meaning("identical"),
    "assertIsNot": Meaning("identical", negated=True),
    "assertIsNone": Meaning("none", expected=None),
    "assertIsNotNone": Meaning("none", negated=True, expected=None),
    "assertIn": Meaning("contains", subject=1, expected=0),
    "assertNotIn": Meaning("contains", negated=True, subject=1, expected=0),
    "assertIsInstance": Meaning("type"),
    "assertNotIsInstance": Meaning("type", negated=True),
    "assertIsSubclass": Meaning("type"),
    "assertHasAttr": Meaning("has"),
    "assertAlmostEqual": Meaning("approximate"),
    "assertNotAlmostEqual": Meaning("approximate", negated=True),
    "assertGreater": Meaning("greater"),
    "assertGreaterEqual": Meaning("greater_equal"),
    "assertLess": Meaning("less"),
    "assertLessEqual": Meaning("less_equal"),
    "assertRegex": Meaning("matches"),
    "assertNotRegex": Meaning("matches", negated=True),
    "assertStartsWith": Meaning("starts_with"),
    "assertEndsWith": Meaning("ends_with"),
    "assertCountEqual": Meaning("equal"),
    **dict.fromkeys(
        ("assertSequenceEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual", "assertDictEqual",
         "assertMultiLineEqual", "assertEquals", "assertItemsEqual", "assertQuerySetEqual", "assertQuerysetEqual",
         "assertHTMLEqual", "assertJSONEqual", "assertXMLEqual", "failUnlessEqual"), Meaning("equal"),
    ),
    **dict.fromkeys(("assertDictContainsSubset", "assertContains", "assertInHTML"), Meaning("contains")),
    "assertNotContains": Meaning("contains", negated=True),
    "assertRaises": Meaning("raises", subject=1, expected=0),
    "assertRaisesRegex": Meaning("raises", subject=2, expected=0),
    "assertRaisesMessage": Meaning("raises", subject=2, expected=0),
    "assertWarns": Meaning("warns", subject=1, expected=0),
    "assertWarnsRegex": Meaning("warns", subject=2, expected=0),
    "assertLogs": Meaning("logs", subject=None, expected=0),
    "assertNoLogs": Meaning("logs", negated=True, subject=None, expected=0),
    "assert_": Meaning("truthy", expected=None),
    FAIL: Meaning("fails", subject=None, expected=None),
}  # fmt: skip
#: what methods of a case are called on
INSTANCES: Final = frozenset({"self", "cls", "case", "testcase", "test_case"})
#: methods of mocks, whose subject is the mock
MOCK: Final[dict[str, Meaning]] = {
    "assert_called": Meaning("called", expected=None),
    "assert_called_once": Meaning("called", expected=None),
    "assert_not_called": Meaning("called", negated=True, expected=None),
    "assert_called_with": Meaning("called_with", expected=0),
    "assert_called_once_with": Meaning("called_with", expected=0),
    "assert_any_call": Meaning("called_with", expected=0),
    "assert_has_calls": Meaning("called_with", expected=0),
    **dict.fromkeys(("assert_awaited", "assert_awaited_once"), Meaning("called", expected=None)),
    "assert_not_awaited": Meaning("called", negated=True, expected=None),
    **dict.fromkeys(
        ("assert_awaited_with", "assert_awaited_once_with", "assert_any_await", "assert_has_awaits"),
        Meaning("called_with", expected=0),
    ),
}
#: functions, by the last part of their names, of pytest and of libraries that are used everywhere
FUNCTIONS: Final[dict[str, Meaning]] = {
    "raises": Meaning("raises", subject=1, expected=0),
    "warns": Meaning("warns", subject=1, expected=0),
    "deprecated_call": Meaning("warns", subject=0, expected=None),
    "assert_equal": Meaning("equal"),
    "assert_array_equal": Meaning("equal"),
    "assert_frame_equal": Meaning("equal"),
    "assert_series_equal": Meaning("equal"),
    "assert_index_equal": Meaning("equal"),
    "assert_allclose": Meaning("approximate"),
    "assert_almost_equal": Meaning("approximate"),
    "assert_array_almost_equal": Meaning("approximate"),
    "assert_raises": Meaning("raises", subject=1, expected=0),
    "assert_raises_regex": Meaning("raises", subject=2, expected=0),
    "assert_warns": Meaning("warns", subject=1, expected=0),
    "assert_that": Meaning("custom"),
}
#: of these, those that are checks wherever they come from; the others are, after `pytest.` or an import from there
ALONE: Final = frozenset({"raises", "warns", "deprecated_call"})
#: words that a function begins with that checks something, by habit
BEGINNINGS: Final = ("assert", "check_", "verify_", "expect_", "ensure_")
#: operators of comparisons -> relation, and whether it is negated
OPERATORS: Final[dict[str, tuple[str, bool]]] = {
    "==": ("equal", False), "!=": ("equal", True), "<>": ("equal", True), "is": ("identical", False),
    "is not": ("identical", True), "in": ("contains", False), "not in": ("contains", True), ">": ("greater", False),
    ">=": ("greater_equal", False), "<": ("less", False), "<=": ("less_equal", False),
}  # fmt: skip
#: functions and methods that an `assert` calls -> relation
TRUTHS: Final[dict[str, str]] = {
    "isinstance": "type", "issubclass": "type", "hasattr": "has", "startswith": "starts_with",
    "endswith": "ends_with", "match": "matches", "search": "matches", "fullmatch": "matches",
    "isclose": "approximate", "allclose": "approximate", "array_equal": "equal",
}  # fmt: skip
