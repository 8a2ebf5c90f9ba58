"""Why a test of Swift passes whatever the code does.  What is not known to be harmless may trap.

A failed check of Swift is recorded, and none is thrown, so that a `catch` forgets none.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING, Part
from testlist.kit.passing import Passing, proved
from testlist.languages.swift.checks_calls import Argument, arguments, name_of, suffix_of
from testlist.languages.swift.checks_conditions import literal
from testlist.languages.swift.checks_functions import called, operated
from testlist.languages.swift.vocabulary_checks import LINKS, MATCHERS, NIMBLE
from testlist.sandbox.syntax import named, text

#: functions whose checks of literals are known to hold or not -> how many values they compare; relation; its turn
CONSTANT: Final = {
    "XCTAssert": (1, "truthy", False), "XCTAssertTrue": (1, "truthy", False), "XCTAssertFalse": (1, "truthy", True),
    "XCTAssertEqual": (2, "equal", False), "XCTAssertNotEqual": (2, "equal", True), "XCTAssertNil": (1, "none", False),
}  # fmt: skip
WRITTEN: Final = frozenset({"line_string_literal", "integer_literal", "boolean_literal", "real_literal"})
DECLARING: Final = frozenset({"value_binding_pattern", "pattern", "type_annotation"})
#: what cannot be given back, so that `return` ends before it
APART: Final = frozenset(
    {"property_declaration", "function_declaration", "class_declaration", "if_statement", "guard_statement",
     "for_statement", "while_statement", "do_statement", "control_transfer_statement"}
)  # fmt: skip


class SwiftPassing(Passing):
    """One body.  has_check: whether a check of a library, and none of the file's own, stands in a node."""

    names = frozenset({"simple_identifier"})
    written = frozenset({*WRITTEN, "line_str_text", "str_escaped_char", "array_literal"})

    def __init__(self, has_check: Callable[[Node], bool]) -> None:
        super().__init__()
        self.has_check = has_check

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal(Part(node.text or b"", node))

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:
        """`let a = 1`, `a = 2`, `_ = a`."""
        if node.type == "property_declaration":
            values = node.children_by_field_name("value")
            is_plain = all(one.type in DECLARING or one in values for one in named(node))
            heads = [one.child_by_field_name("bound_identifier") for one in node.children_by_field_name("name")]
            known = is_plain and len(heads) == len(values) and None not in heads
            return zip(heads, values, strict=True) if known else None
        if node.type != "assignment" or text(node.child_by_field_name("operator")) != "=":
            return None
        target = next(named(node.child_by_field_name("target")), None)
        is_local = text(target) in (*self.known, "_")
        return iter([(target, node.child_by_field_name("result"))]) if is_local else None

    def leaves(self, node: Node) -> bool:
        """`return`, behind which nothing on the next line is given back."""
        if node.type != "control_transfer_statement" or text(node) not in ("return", "return ()"):
            return False
        following = node.next_named_sibling
        return text(node) != "return" or following is None or following.type in APART or _is_ended(node, following)

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:
        """See Passing."""
        conditions = node.children_by_field_name("condition") if node.type == "if_statement" else []
        if len(conditions) != 1 or any(child.type in ("else", ",") for child in node.children):
            return None
        inner = [one for child in named(node) if child.type == "statements" for one in named(child)]
        return conditions[0], inner

    def holds(self, node: Node) -> bool:
        """`XCTAssertEqual(1, 1)`, `#expect(1 == 1)`, `expect(1).to(equal(1))`, `expect(1) == 1`."""
        if node.type == "macro_invocation":
            given = arguments(node)
            is_plain = text(next(named(node), None)) == "expect" and len(given) == 1 and given[0].label == ""
            return is_plain and self.has_check(node) and self.value(given[0].value) is True
        if node.type in ("equality_expression", "comparison_expression"):
            found = operated(node)
            return found is not None and _is_proved(node.child_by_field_name("lhs"), [found])
        if node.type != "call_expression" or not self.has_check(node):
            return False
        meaning = CONSTANT.get(name_of(node))
        return self._is_asserted(node, *meaning) if meaning is not None else _is_matched(node)

    def _is_asserted(self, call: Node, count: int, relation: str, negated: bool) -> bool:  # noqa: FBT001 - a row
        given = arguments(call)
        is_plain = len(given) >= count and all(one.label == "" for one in given)
        if not is_plain or not all(is_written(one.value) for one in given[count:]):
            return False
        values = [self.value(one.value) for one in given[:count]]
        return NOTHING not in values and proved(relation, values, negated=negated)


def _is_ended(node: Node, following: Node) -> bool:
    """Whether a semicolon stands behind a statement."""
    parent = node.parent
    if parent is None:
        return False
    return b";" in (parent.text or b"")[node.end_byte - parent.start_byte : following.start_byte - parent.start_byte]


def _is_matched(call: Node) -> bool:
    """`expect(1).to(equal(1))`."""
    begun, link = suffix_of(call.named_child(0))
    given = arguments(call)
    if begun is None or link not in LINKS or len(given) != 1:
        return False
    matcher = given[0].value
    is_known = matcher.type == "call_expression" and name_of(matcher) in MATCHERS
    is_plain = is_known and all(one.label == "" and is_written(one.value) for one in arguments(matcher))
    return is_plain and _is_proved(begun, list(called(call)))


def _is_proved(begun: Node | None, checks: Sequence[CheckFact]) -> bool:
    """Whether checks of what `expect` is given, which is written out, are known to hold."""
    if begun is None or begun.type != "call_expression" or name_of(begun) not in NIMBLE:
        return False
    given: list[Argument] = arguments(begun)
    if len(given) != 1 or not checks:
        return False
    value = literal(Part(given[0].value.text or b"", given[0].value))
    return all(
        proved(one["relation"], [value, *([one["value"]] if "value" in one else [])], negated=one.get("negated", False))
        for one in checks
    )


def is_written(value: Node) -> bool:
    """Whether a value is a literal with nothing in it that is worked out."""
    return value.type in WRITTEN and b"\\(" not in (value.text or b"")
