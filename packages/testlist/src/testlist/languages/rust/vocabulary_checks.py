"""Names of checks in Rust: macros of the language, of proptest, googletest, claims, approx and insta, and matchers."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a macro checks.  subject, expected: places of its arguments; None: it has none.

    tolerance: whether what follows both says how far apart they may be.
    """

    relation: str
    negated: bool = False
    subject: int | None = 0
    expected: int | None = 1
    tolerance: bool = False


#: macros that take a condition -> whether it must not hold
CONDITIONS: Final = {
    "assert": False, "debug_assert": False, "prop_assert": False, "expect_true": False, "verify_true": False,
    "assert_true": False, "expect_false": True, "verify_false": True, "assert_false": True,
}  # fmt: skip
_PAIRS: Final[dict[str, Meaning]] = {
    "eq": Meaning("equal"),
    "ne": Meaning("equal", True),
    "gt": Meaning("greater"),
    "ge": Meaning("greater_equal"),
    "lt": Meaning("less"),
    "le": Meaning("less_equal"),
}
#: what stands before these
_BEGINNINGS: Final = ("assert", "debug_assert", "prop_assert", "expect", "verify")
_NEAR: Final = Meaning("approximate", tolerance=True)
MACROS: Final[Mapping[str, Meaning]] = {
    **{f"{first}_{last}": meaning for first in _BEGINNINGS for last, meaning in _PAIRS.items()},
    **dict.fromkeys(("assert_str_eq", "assert_data_eq"), Meaning("equal")),
    **dict.fromkeys(
        ("assert_relative_eq", "assert_abs_diff_eq", "assert_ulps_eq", "assert_approx_eq", "assert_float_eq",
         "expect_near", "assert_near", "verify_near", "expect_float_eq", "verify_float_eq", "assert_delta"), _NEAR
    ),
    **dict.fromkeys(
        ("assert_relative_ne", "assert_abs_diff_ne", "assert_ulps_ne"), Meaning("approximate", True, tolerance=True)
    ),
    "assert_ok": Meaning("raises", True, expected=None),
    "assert_err": Meaning("raises", expected=None),
    "assert_some": Meaning("none", True, expected=None),
    "assert_none": Meaning("none", expected=None),
    **dict.fromkeys(("assert_ok_eq", "assert_some_eq", "assert_ready_eq"), Meaning("equal")),
    "assert_ready_ok": Meaning("raises", True, expected=None),
    "assert_ready_err": Meaning("raises", expected=None),
    "assert_contains": Meaning("contains"),
}  # fmt: skip
#: macros that take a value and a pattern
PATTERNS: Final = frozenset({"matches", "assert_matches", "debug_assert_matches", "assert_let"})
#: macros that take a value and a matcher of googletest
MATCHED: Final = frozenset({"assert_that", "expect_that", "verify_that"})
#: macros that end a test as failed
PANICS: Final = frozenset({"panic", "unreachable", "todo", "unimplemented", "fail", "add_failure"})
#: how a macro is called that compares with what is stored
SNAPSHOT: Final = "_snapshot"
#: how other macros and functions that check something begin, and those that check when they are compiled
OTHERS: Final = "assert_"
COMPILED: Final = (
    "assert_impl",
    "assert_not_impl",
    "assert_type_eq",
    "assert_obj_safe",
    "assert_eq_size",
    "assert_cfg",
)
#: matchers of googletest; the first argument is what is expected, or the whole matcher
MATCHERS: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(("eq", "eq_deref_of", "container_eq"), ("equal", False)), "ne": ("equal", True),
    "gt": ("greater", False), "ge": ("greater_equal", False), "lt": ("less", False), "le": ("less_equal", False),
    **dict.fromkeys(("near", "approx_eq"), ("approximate", False)),
    **dict.fromkeys(("contains", "contains_substring", "contains_each", "has_entry"), ("contains", False)),
    **dict.fromkeys(("contains_regex", "matches_regex"), ("matches", False)),
    "starts_with": ("starts_with", False), "ends_with": ("ends_with", False), "none": ("none", False),
    "len": ("length", False), "char_count": ("length", False), "empty": ("empty", False), "is_empty": ("empty", False),
    "is_true": ("truthy", False), "is_false": ("truthy", True),
}  # fmt: skip
WHOLE: Final = frozenset(
    {"matches_pattern", "pat", "elements_are", "unordered_elements_are", "some", "ok", "err", "is_contained_in"}
)
#: methods without arguments in a condition -> relation, and whether it must not hold
STATES: Final[dict[str, tuple[str, bool]]] = {
    "is_some": ("none", True), "is_none": ("none", False), "is_null": ("none", False), "is_ok": ("raises", True),
    "is_err": ("raises", False), "is_empty": ("empty", False), "is": ("type", False),
}  # fmt: skip
#: methods with one argument
TRUTHS: Final = {
    "contains": "contains", "contains_key": "contains", "starts_with": "starts_with", "ends_with": "ends_with",
    "eq": "equal",
}  # fmt: skip
#: functions with two
FUNCTIONS: Final = {"ptr_eq": "identical", "eq": "identical"}
#: methods that are no check of a condition and yet fail for a success
ERRORS: Final = frozenset({"unwrap_err", "expect_err", "unwrap_none"})
#: operators -> relation, and whether it must not hold
OPERATORS: Final[dict[str, tuple[str, bool]]] = {
    "==": ("equal", False), "!=": ("equal", True), "<": ("less", False), "<=": ("less_equal", False),
    ">": ("greater", False), ">=": ("greater_equal", False),
}  # fmt: skip
#: macros of the language that check nothing
PLAIN_MACROS: Final = PANICS | frozenset({
    "vec", "format", "println", "print", "eprintln", "eprint", "write", "writeln", "concat", "stringify", "env",
    "include_str", "include_bytes", "include", "option_env", "cfg", "line", "file", "column", "module_path", "dbg",
    "format_args", "matches", "thread_local", "compile_error",
})  # fmt: skip
