"""Names of checks in Ruby: methods of Minitest and test-unit, and matchers of RSpec."""

from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """What a method checks.  subject, expected: places of its arguments; None: it has none."""

    relation: str
    subject: int | None = 0
    expected: int | None = None


#: methods after `assert_` and `refute_`, or `assert_not_`
ASSERTS: Final[dict[str, Meaning]] = {
    "equal": Meaning("equal", 1, 0),
    "same": Meaning("identical", 1, 0),
    "nil": Meaning("none"),
    "empty": Meaning("empty"),
    "includes": Meaning("contains", 0, 1),
    "include": Meaning("contains", 0, 1),
    "match": Meaning("matches", 1, 0),
    "kind_of": Meaning("type", 1, 0),
    "instance_of": Meaning("type", 1, 0),
    "respond_to": Meaning("has", 0, 1),
    "in_delta": Meaning("approximate", 1, 0),
    "in_epsilon": Meaning("approximate", 1, 0),
    "raises": Meaning("raises", None, 0),
    "raise": Meaning("raises", None, 0),
    "nothing_raised": Meaning("raises", None, None),
    "throws": Meaning("raises", None, 0),
    "predicate": Meaning("custom", 0, 1),
    "operator": Meaning("custom", 0, 2),
    "true": Meaning("truthy", 0, None),
    "false": Meaning("truthy", 0, None),
    "dom_equal": Meaning("equal", 1, 0),
    "response": Meaning("custom", None, 0),
    "redirected_to": Meaning("custom", None, 0),
    "difference": Meaning("custom", 0, 1),
    "no_difference": Meaning("custom", 0, None),
    "output": Meaning("logs", None, 0),
    "silent": Meaning("logs", None, None),
}
#: of these, those that say the opposite by their name
OPPOSITES: Final = frozenset({"nothing_raised", "false", "silent"})
BEGINNINGS: Final = {"assert_not_": True, "assert_no_": True, "refute_": True, "assert_": False}
#: methods of Minitest's expectations: `_(a).must_equal b`
MUST: Final[dict[str, str]] = {
    "equal": "equal", "be_nil": "none", "be_empty": "empty", "include": "contains", "match": "matches",
    "be_same_as": "identical", "be_kind_of": "type",
    "be_instance_of": "type", "respond_to": "has", "raise": "raises", "be_close_to": "approximate",
    "be_within_delta": "approximate",
}  # fmt: skip
#: what a check of RSpec begins with, and the words that hold its matcher -> whether they turn it
SUBJECTS: Final = frozenset({"expect", "is_expected", "expect_any_instance_of"})
LINKS: Final = {"to": False, "should": False, "not_to": True, "to_not": True, "should_not": True}
#: matchers of RSpec -> relation; the first argument is what is expected
MATCHERS: Final[dict[str, str]] = {
    **dict.fromkeys(("eq", "eql", "match_array", "contain_exactly"), "equal"),
    **dict.fromkeys(("equal", "be"), "identical"),
    **dict.fromkeys(("include", "cover", "have_text", "have_content"), "contains"),
    **dict.fromkeys(("be_a", "be_an", "be_kind_of", "be_a_kind_of", "be_an_instance_of", "be_instance_of"), "type"),
    **dict.fromkeys(("have_attributes", "respond_to", "have_key"), "has"),
    **dict.fromkeys(("have_received", "receive"), "called"),
    **dict.fromkeys(("be_truthy", "be_present", "be_valid", "exist"), "truthy"),
    "match": "matches", "be_nil": "none", "be_empty": "empty", "be_blank": "empty", "raise_error": "raises",
    "raise_exception": "raises", "start_with": "starts_with", "end_with": "ends_with", "be_within": "approximate",
    "match_snapshot": "snapshot", "output": "logs",
}  # fmt: skip
#: matchers that say the opposite of a relation
FALSE_MATCHERS: Final = {"be_falsey": "truthy", "be_falsy": "truthy", "be_false": "truthy"}
#: operators after `be`
OPERATORS: Final = {">": "greater", ">=": "greater_equal", "<": "less", "<=": "less_equal", "==": "equal"}
#: what fails a test whatever it is given
FAIL: Final = "flunk"
#: operators of a condition -> (relation, negated), and methods in it, without an argument and with one
COMPARISONS: Final[dict[str, tuple[str, bool]]] = {
    "==": ("equal", False), "!=": ("equal", True), "<": ("less", False), "<=": ("less_equal", False),
    ">": ("greater", False), ">=": ("greater_equal", False), "=~": ("matches", False), "!~": ("matches", True),
}  # fmt: skip
STATES: Final = {"nil?": "none", "empty?": "empty", "blank?": "empty"}
TRUTHS: Final = {
    "include?": "contains", "equal?": "identical", "eql?": "equal", "respond_to?": "has", "key?": "has",
    "has_key?": "has", "start_with?": "starts_with", "end_with?": "ends_with", "match?": "matches",
    **dict.fromkeys(("is_a?", "kind_of?", "instance_of?"), "type"),
}  # fmt: skip
