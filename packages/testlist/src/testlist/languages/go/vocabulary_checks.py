"""Names of checks in Go: what ends a test, and the functions of testify and gocheck."""

from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a function checks.  subject, expected: places of its arguments, without the `t` before them."""

    relation: str
    negated: bool = False
    subject: int | None = 0
    expected: int | None = None


#: methods of testing.T that fail a test
FAILS: Final = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"})
#: packages, and what is made of them, whose functions are those below
TESTIFY_OWNERS: Final = frozenset({"assert", "require", "a", "r", "is", "must"})
#: calls on a suite that give such an owner
TESTIFY_GIVERS: Final = frozenset({"Require", "Assert"})
#: functions of testify, also with `f` at the end
TESTIFY: Final[dict[str, Meaning]] = {
    **dict.fromkeys(
        ("Equal", "EqualValues", "Exactly", "ElementsMatch", "JSONEq", "YAMLEq", "Same", "EqualExportedValues"),
        Meaning("equal", subject=1, expected=0),
    ),
    **dict.fromkeys(("NotEqual", "NotEqualValues", "NotSame"), Meaning("equal", True, 1, 0)),
    "EqualError": Meaning("raises", expected=1),
    "ErrorIs": Meaning("raises", expected=1),
    "ErrorAs": Meaning("raises", expected=1),
    "ErrorContains": Meaning("raises", expected=1),
    "Error": Meaning("raises"),
    "NoError": Meaning("raises", True),
    "Panics": Meaning("raises"),
    "NotPanics": Meaning("raises", True),
    "PanicsWithValue": Meaning("raises", subject=1, expected=0),
    "PanicsWithError": Meaning("raises", subject=1, expected=0),
    "Nil": Meaning("none"),
    "NotNil": Meaning("none", True),
    "True": Meaning("truthy"),
    "False": Meaning("truthy", True),
    "Zero": Meaning("empty"),
    "NotZero": Meaning("empty", True),
    "Empty": Meaning("empty"),
    "NotEmpty": Meaning("empty", True),
    "Len": Meaning("length", expected=1),
    "Contains": Meaning("contains", expected=1),
    "NotContains": Meaning("contains", True, expected=1),
    "Subset": Meaning("contains", expected=1),
    "IsType": Meaning("type", subject=1, expected=0),
    "Implements": Meaning("type", subject=1, expected=0),
    "Greater": Meaning("greater", expected=1),
    "GreaterOrEqual": Meaning("greater_equal", expected=1),
    "Less": Meaning("less", expected=1),
    "LessOrEqual": Meaning("less_equal", expected=1),
    "InDelta": Meaning("approximate", subject=1, expected=0),
    "InEpsilon": Meaning("approximate", subject=1, expected=0),
    "WithinDuration": Meaning("approximate", subject=1, expected=0),
    "Regexp": Meaning("matches", subject=1, expected=0),
    "NotRegexp": Meaning("matches", True, 1, 0),
    "Eventually": Meaning("truthy"),
    "Never": Meaning("truthy", True),
    "FileExists": Meaning("truthy"),
}
#: packages of shoenig/test, and their functions where these are not as in testify: what is expected comes first
SHOENIG_PATHS: Final = frozenset({"github.com/shoenig/test", "github.com/shoenig/test/must"})
SHOENIG: Final[dict[str, Meaning]] = {
    **TESTIFY,
    **dict.fromkeys(
        ("Eq", "EqOp", "EqFunc", "EqJSON", "SliceEqual", "SliceEqFunc", "SliceEqOp", "MapEq", "StrEqFold"),
        Meaning("equal", subject=1, expected=0),
    ),
    **dict.fromkeys(("NotEq", "NotEqOp", "NotEqFunc"), Meaning("equal", True, 1, 0)),
    **dict.fromkeys(("Len", "SliceLen", "MapLen", "Length", "Size"), Meaning("length", subject=1, expected=0)),
    **dict.fromkeys(("SliceEmpty", "MapEmpty"), Meaning("empty")),
    **dict.fromkeys(("SliceNotEmpty", "MapNotEmpty", "NonZero"), Meaning("empty", True)),
    "Contains": Meaning("contains", subject=1, expected=0),
    "NotContains": Meaning("contains", True, 1, 0),
    **dict.fromkeys(("StrContains", "SliceContains", "SliceContainsAll"), Meaning("contains", expected=1)),
    **dict.fromkeys(("StrNotContains", "SliceNotContains"), Meaning("contains", True, expected=1)),
    "MapContainsKey": Meaning("has", expected=1),
    "MapNotContainsKey": Meaning("has", True, expected=1),
    "StrHasPrefix": Meaning("starts_with", subject=1, expected=0),
    "StrHasSuffix": Meaning("ends_with", subject=1, expected=0),
    "RegexMatch": Meaning("matches", subject=1, expected=0),
    "EqError": Meaning("raises", expected=1),
    "Greater": Meaning("greater", subject=1, expected=0),
    "GreaterEq": Meaning("greater_equal", subject=1, expected=0),
    "Less": Meaning("less", subject=1, expected=0),
    "LessEq": Meaning("less_equal", subject=1, expected=0),
}
#: and those that fail the test whatever they are given
TESTIFY_FAILS: Final = frozenset({"Fail", "Failf", "FailNow", "FailNowf"})
#: of gocheck: `c.Assert(value, Equals, wanted)`
CHECKERS: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(("Equals", "DeepEquals"), ("equal", False)), "IsNil": ("none", False), "NotNil": ("none", True),
    "Matches": ("matches", False), "ErrorMatches": ("raises", False), "HasLen": ("length", False),
}  # fmt: skip
#: operators of a condition under which a test fails -> the relation that has to hold, and whether it is negated
OPERATORS: Final[dict[str, tuple[str, bool]]] = {
    "!=": ("equal", False), "==": ("equal", True), "<": ("greater_equal", False), "<=": ("greater", False),
    ">": ("less_equal", False), ">=": ("less", False),
}  # fmt: skip
#: of these, the one that holds where another does not
OPPOSITES: Final = {"!=": "==", "==": "!=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
#: functions in such a condition -> relation
TRUTHS: Final = {
    "reflect.DeepEqual": "equal", "bytes.Equal": "equal", "cmp.Equal": "equal", "slices.Equal": "equal",
    "maps.Equal": "equal",
    "strings.Contains": "contains", "slices.Contains": "contains", "bytes.Contains": "contains",
    "strings.HasPrefix": "starts_with", "strings.HasSuffix": "ends_with", "errors.Is": "raises", "errors.As": "raises",
}  # fmt: skip
