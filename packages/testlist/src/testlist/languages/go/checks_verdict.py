"""Why a test of Go passes whatever the code does.  What is not known to be harmless may panic."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.checking import NOTHING, at
from testlist.kit.passing import Passing, proved
from testlist.languages.go.checks_conditions import STRINGS, arguments, literal, name_of
from testlist.languages.go.vocabulary_checks import TESTIFY
from testlist.sandbox.syntax import named, text

#: a file whose `assert` and `require` are the library's
TESTIFY_IMPORT: Final = re.compile(rb'"github\.com/stretchr/testify/(?:assert|require)"')
OWNERS: Final = frozenset({"assert", "require"})
#: methods of testing.T that end a test without failing it, those that do nothing to it, and one that panics if it is
#: called again
LEAVES: Final = frozenset({"Skip", "Skipf", "SkipNow"})
HARMLESS: Final = frozenset({"Helper", "Log", "Logf"})
PARALLEL: Final = frozenset({"Parallel"})


class GoPassing(Passing):
    """One body.  handle: what its `testing.T` is called; testify: the file has this library.

    A recovered panic is the only failure that a test can catch, and a failed check is none.
    """

    written = frozenset(
        {*STRINGS, "interpreted_string_literal_content", "raw_string_literal_content", "escape_sequence",
         "float_literal", "rune_literal", "expression_list"}
    )  # fmt: skip

    def __init__(self, handle: str, *, testify: bool) -> None:
        super().__init__()
        self.handle, self.testify, self.parallel = handle, testify, False

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal(node)

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:
        """`a := 1`, `var a = 1`, `_ = a`, `t.Log("a")`."""
        if node.type in ("short_var_declaration", "assignment_statement"):
            signs = [child.type for child in node.children if child.type in ("=", ":=")]
            return self._pairs(node, "left", "right") if signs else None
        if node.type == "var_declaration":
            specs = list(named(node))
            is_plain = all(one.type == "var_spec" and one.child_by_field_name("value") is not None for one in specs)
            return (pair for one in specs for pair in self._pairs(one, "name", "value")) if is_plain else None
        if not self.parallel and self._own(node, PARALLEL) is not None:
            self.parallel = True
            return iter(())
        call = self._own(node, HARMLESS)
        return ((None, one) for one in arguments(call)) if call is not None else None

    def leaves(self, node: Node) -> bool:
        """See Passing."""
        if node.type == "return_statement":
            return not any(True for _ in named(node))
        call = self._own(node, LEAVES)
        return call is not None and all(one.type in STRINGS for one in arguments(call))

    def holds(self, node: Node) -> bool:
        """`assert.Equal(t, 1, 1)`."""
        call = next(named(node), None) if node.type == "expression_statement" else None
        if call is None or call.type != "call_expression" or not self.testify:
            return False
        owner, _, name = name_of(call).rpartition(".")
        meaning = TESTIFY.get(name)
        if meaning is None or owner not in OWNERS:
            return False
        given = arguments(call)
        if not given or text(given[0]) != self.handle or any(literal(one) is NOTHING for one in given[1:]):
            return False
        sides = [one for place in (meaning.subject, meaning.expected) if (one := at(given[1:], place)) is not None]
        return proved(meaning.relation, [*map(literal, sides)], negated=meaning.negated)

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:
        """See Passing."""
        condition, block = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        is_plain = node.type == "if_statement" and node.child_by_field_name("alternative") is None
        if not is_plain or condition is None or block is None or node.child_by_field_name("initializer") is not None:
            return None
        return condition, [one for child in named(block) for one in named(child)]

    def _own(self, node: Node, names: frozenset[str]) -> Node | None:
        """The call of such a method of the test itself that a statement is."""
        call = next(named(node), None) if node.type == "expression_statement" else None
        if call is None or call.type != "call_expression":
            return None
        owner, _, name = name_of(call).rpartition(".")
        return call if owner == self.handle and name in names else None

    def _pairs(self, node: Node, left: str, right: str) -> Iterator[tuple[Node | None, Node | None]]:
        names, values = node.child_by_field_name(left), node.child_by_field_name(right)
        first = list(named(names)) if names is not None and names.type == "expression_list" else [names]
        second = list(named(values)) if values is not None and values.type == "expression_list" else [values]
        return zip(first, second, strict=False) if len(first) == len(second) else iter([(None, names)])
