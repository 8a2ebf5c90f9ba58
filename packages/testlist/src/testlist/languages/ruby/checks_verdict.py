"""Why a test of Ruby passes whatever the code does.  What is not known to be harmless may raise."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.checking import NOTHING
from testlist.kit.passing import DEEPEST, SOME, Passing, proved
from testlist.languages.ruby.checks_calls import arguments, checked
from testlist.languages.ruby.checks_conditions import literal
from testlist.sandbox.syntax import named, text

#: a file with any of these may run more around its tests than they say
SURROUNDED: Final = re.compile(rb"\b(?:setup|teardown|before|after|around|let!|subject!|include|included|prepend)\b")
#: what a class of tests is, of which nothing more is known to run around them; none for what is no class
BASES: Final = frozenset({"", "Minitest::Test", "Minitest::Spec", "Test::Unit::TestCase", "ActiveSupport::TestCase"})
#: files of Minitest, whose blocks are methods, so that `return` ends them; in one of RSpec it raises
METHODS: Final = re.compile(rb"initest|\.(?:must|wont)_|\b(?:assert|refute)_|\bassert\b")
BLOCKS: Final = re.compile(rb"\bRSpec\b|\bexpect\b|\bis_expected\b")
#: what is verified elsewhere, keeps failures apart, or ends more than a test
LATER: Final = re.compile(
    rb"\b(?:expect|expects|allow|receive|should\w*|aggregate_failures|assumes?|exit!|abort|at_exit|fork|Thread|mock|spy)\b"
)
#: names that are checks of a file's own
OWN: Final = re.compile(rb"\bdef (?:self\.)?(?:assert|refute|expect|must_|wont_|eq|be|_)\b|\balias\b")
#: the class that is caught with all others
ALL: Final = frozenset({"Exception", "::Exception"})
RETURN, NEXT, RESCUE = "return", "next", "rescue"
TRUTH: Final = frozenset({"be", "be_truthy", "be_falsey", "eq", "eql", "be_nil"})


class RubyPassing(Passing):
    """One body.  returns: `return` ends it; own: the file has checks of its own."""

    written = frozenset(
        {"string", "string_content", "escape_sequence", "simple_symbol", "float", "array", "hash", "pair",
         "hash_key_symbol", "string_array", "bare_string"}
    )  # fmt: skip

    def __init__(self, *, returns: bool, own: bool) -> None:
        super().__init__()
        self.returns, self.own = returns, own

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal(node)

    def value(self, node: Node, depth: int = 0) -> Any:
        """See Passing; `a = 1` has a value too."""
        if node.type == "assignment" and depth < DEEPEST:
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            found = self.value(right, depth + 1) if right is not None else NOTHING
            if left is None or left.type != "identifier" or found is NOTHING:
                return NOTHING
            self.known[text(left)] = NOTHING if found is None else found
            return found
        return super().value(node, depth)

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:
        """`a = 1`, and what is only written."""
        is_plain = node.type == "assignment" or literal(node) is not NOTHING
        return iter([(None, node)]) if is_plain else None

    def leaves(self, node: Node) -> bool:
        """See Passing."""
        if node.type == "call" and text(node.child_by_field_name("method")) == "skip":
            return node.child_by_field_name("receiver") is None and all(map(_is_written, arguments(node)))
        is_end = node.type == NEXT or (node.type == RETURN and self.returns)
        return is_end and all(_is_written(one) for part in named(node) for one in named(part))

    def swallows(self, node: Node) -> bool:
        """`begin … rescue Exception end`."""
        return node.type == "begin" and is_swallowed(list(named(node)))

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:
        """`return if true`."""
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        is_plain = node.type == "if_modifier" and condition is not None and body is not None
        return (condition, [body]) if is_plain and condition is not None and body is not None else None

    def holds(self, node: Node) -> bool:
        """`assert_equal 1, 1`, `_(1).must_equal 1`, `expect(1).to eq(1)`."""
        check = checked(node) if node.type == "call" and not self.own else None
        if check is None or node.child_by_field_name("block") is not None:
            return False
        receiver, given = node.child_by_field_name("receiver"), arguments(node)
        negated = check.get("negated", False)
        if receiver is None:
            values = [*map(literal, given)]
            return NOTHING not in values and (
                _is_truth(values, negated=negated)
                if check["relation"] == "truthy"
                else proved(check["relation"], values[:2], negated=negated)
            )
        subject = _subject(receiver)
        if subject is None or not all(map(_is_wanted, given)):
            return False
        values = [literal(subject), *([check["value"]] if "value" in check else [])]
        if check["relation"] == "truthy":
            return _is_truth(values, negated=negated)
        return proved("equal" if check["relation"] == "identical" else check["relation"], values, negated=negated)


def is_swallowed(parts: Sequence[Node]) -> bool:
    """Whether whatever happens in some statements is caught by what follows them, and dropped."""
    clauses = [one for one in parts if one.type in (RESCUE, "else", "ensure")]
    if len(clauses) != 1 or clauses[0].type != RESCUE:
        return False
    caught, body = clauses[0].child_by_field_name("exceptions"), clauses[0].child_by_field_name("body")
    is_quiet = all(_is_written(one) for one in named(body))
    is_all = any(text(one) in ALL for one in named(caught))
    return is_all and is_quiet and not any(LATER.search(one.text or b"") for one in parts if one is not clauses[0])


def _subject(receiver: Node) -> Node | None:
    """What `_(1)`, `expect(1)` or `1` is about."""
    if literal(receiver) is not NOTHING:
        return receiver
    if receiver.type != "call" or receiver.child_by_field_name("receiver") is not None:
        return None
    given = arguments(receiver)
    is_known = text(receiver.child_by_field_name("method")) in ("_", "value", "expect") and len(given) == 1
    return given[0] if is_known and receiver.child_by_field_name("block") is None else None


def _is_wanted(node: Node) -> bool:
    """Whether what is expected is written out, perhaps in a matcher: `1`, `eq(1)`, `be true`."""
    if literal(node) is not NOTHING:
        return True
    if node.type != "call":
        return text(node) in TRUTH
    is_matcher = node.child_by_field_name("receiver") is None and text(node.child_by_field_name("method")) in TRUTH
    return is_matcher and all(map(_is_written, arguments(node)))


def _is_truth(values: Sequence[Any], *, negated: bool) -> bool:
    """Whether what is checked alone is true, as all but `nil` and `false` is; `be true` has an expected value."""
    if not values or values[0] is NOTHING or values[0] is SOME:
        return False
    if len(values) > 1 and isinstance(values[1], bool):
        return proved("equal", values[:2], negated=negated)
    return (values[0] is not None and values[0] is not False) != negated


def _is_written(node: Node) -> bool:
    return literal(node) is not NOTHING
