"""Why a test of Rust passes whatever the code does.  What is not known to be harmless may panic."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.checking import NOTHING
from testlist.kit.passing import Passing, proved
from testlist.languages.rust.checks_conditions import arguments, inner, literal
from testlist.languages.rust.checks_tokens import arguments_of, tree_of
from testlist.sandbox.syntax import named, text

#: macros whose checks of literals are known to hold or not -> relation, and whether it must not hold
CONSTANT: Final = {
    "assert": ("truthy", False), "assert_eq": ("equal", False), "assert_ne": ("equal", True),
    "debug_assert": ("truthy", False), "debug_assert_eq": ("equal", False), "debug_assert_ne": ("equal", True),
}  # fmt: skip
#: what catches a panic, and hands it back as a value
CATCHES: Final = frozenset({"std::panic::catch_unwind", "panic::catch_unwind", "catch_unwind"})
#: what ends more than a test
ESCAPES: Final = re.compile(rb"\b(?:exit|abort|_exit|set_hook|async|await)\b")
MACRO, CALL = "macro_invocation", "call_expression"


class RustPassing(Passing):
    """One body.  own: functions and macros of the file; has_macros: it imports macros by names of the language's."""

    written = frozenset(
        {"string_literal", "raw_string_literal", "string_content", "escape_sequence", "float_literal", "char_literal",
         "array_expression", "tuple_expression"}
    )  # fmt: skip

    def __init__(self, own: frozenset[str], *, has_macros: bool) -> None:
        super().__init__()
        self.own, self.has_macros = own, has_macros

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal(node)

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:
        """`let a = 1;`, `_ = a;`."""
        if node.type == "empty_statement":
            return iter(())
        if node.type == "let_declaration" and node.child_by_field_name("alternative") is None:
            return iter([(node.child_by_field_name("pattern"), node.child_by_field_name("value"))])
        part = _expression(node)
        if part.type != "assignment_expression":
            return None
        return iter([(part.child_by_field_name("left"), part.child_by_field_name("right"))])

    def leaves(self, node: Node) -> bool:
        """See Passing."""
        return _expression(node).type == "return_expression" and not inner(_expression(node))

    def swallows(self, node: Node) -> bool:
        """`let _ = std::panic::catch_unwind(|| { … });`."""
        if node.type != "let_declaration":
            return False
        pattern, call = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        is_name = pattern is not None and (pattern.type == "identifier" or text(pattern) == "_")
        if not is_name or call is None or call.type != CALL or "catch_unwind" in self.own:
            return False
        given = arguments(call)
        is_catch = "".join(text(call.child_by_field_name("function")).split()) in CATCHES and len(given) == 1
        return is_catch and _closes(given[0]) and not ESCAPES.search(call.text or b"")

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:
        """See Passing."""
        part = _expression(node)
        if part.type != "if_expression" or part.child_by_field_name("alternative") is not None:
            return None
        condition, block = part.child_by_field_name("condition"), part.child_by_field_name("consequence")
        return (condition, inner(block)) if condition is not None else None

    def holds(self, node: Node) -> bool:
        """`assert!(true)`, `assert_eq!(1, 1)`, `assert!(1 == 1)`; none that is given a text to make."""
        macro = _expression(node)
        tree = tree_of(macro) if macro.type == MACRO else None
        name = text(macro.child_by_field_name("macro")).removeprefix("std::")
        if tree is None or name not in CONSTANT or f"{name}!" in self.own or self.has_macros:
            return False
        relation, negated = CONSTANT[name]
        given, sides = arguments_of(tree), 1 if relation == "truthy" else 2
        if not all(one.type.endswith("_literal") for one in given[sides:]):
            return False
        values = [Passing.value(self, one) for one in given[:sides]]
        return NOTHING not in values and proved(relation, values, negated=negated)


def _expression(node: Node) -> Node:
    """A statement without what makes it one."""
    return next(named(node), node) if node.type == "expression_statement" else node


def _closes(node: Node) -> bool:
    """Whether it is a closure, perhaps in `AssertUnwindSafe`."""
    if node.type == CALL:
        name, given = text(node.child_by_field_name("function")).rpartition("::")[2], arguments(node)
        return name == "AssertUnwindSafe" and len(given) == 1 and given[0].type == "closure_expression"
    return node.type == "closure_expression"
