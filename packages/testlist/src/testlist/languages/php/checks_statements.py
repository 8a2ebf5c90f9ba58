"""What the statements of a test of PHPUnit do that passes whatever the code does."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.checking import NOTHING
from testlist.kit.passing import Passing
from testlist.languages.php.checks_calls import arguments, asserted, is_own, links_of, literal, plain
from testlist.languages.php.facts_names import Names
from testlist.sandbox.syntax import line, named, text

#: the interface that is caught with all others
THROWABLE: Final = "throwable"
#: what is verified behind the end of a test, and what ends more than it
LATER: Final = re.compile(
    rb"\b(?:expects?\w*|createMock|createStub|createPartialMock|createConfiguredMock|getMock\w*|prophesize|shouldReceive"
    rb"|shouldHave\w*|Mockery|spy|exit|die|register_shutdown_function)\b",
    re.IGNORECASE,
)
#: methods that end a test without failing it
LEAVES: Final = frozenset({"markTestSkipped", "markTestIncomplete"})


class PhpPassing(Passing):
    """One body.  imported: what names of the file stand for."""

    names = frozenset({"variable_name"})
    written = frozenset(
        {"string", "encapsed_string", "string_content", "escape_sequence", "float", "array_creation_expression",
         "array_element_initializer"}
    )  # fmt: skip

    def __init__(self, imported: Names) -> None:
        super().__init__()
        self.imported = imported

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal(node)

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:
        """`$a = 1;`."""
        inner = next(named(node), None) if node.type == "expression_statement" else None
        if inner is None or inner.type != "assignment_expression":
            return iter(()) if node.type == "empty_statement" else None
        return iter([(inner.child_by_field_name("left"), inner.child_by_field_name("right"))])

    def leaves(self, node: Node) -> bool:
        """See Passing."""
        if node.type == "return_statement":
            return not any(True for _ in named(node))
        call = next(named(node), None) if node.type == "expression_statement" else None
        name = _own(call) if call is not None else ""
        return call is not None and name in LEAVES and all(literal(one) is not NOTHING for one in arguments(call))

    def swallows(self, node: Node) -> bool:
        """A `try` whose `catch` takes all and does nothing."""
        body, parts = node.child_by_field_name("body"), list(named(node))[1:]
        if node.type != "try_statement" or body is None or any(one.type != "catch_clause" for one in parts):
            return False
        if any(any(True for _ in named(one.child_by_field_name("body"))) for one in parts):
            return False
        caught = {text(kind) for one in parts for kind in named(one.child_by_field_name("type"))}
        return THROWABLE in {self.imported.full(one).lower() for one in caught} and not LATER.search(body.text or b"")

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:
        """See Passing."""
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if node.type != "if_statement" or condition is None or body is None or len(list(named(node))) != 2:
            return None
        return condition, list(named(body)) if body.type == "compound_statement" else [body]

    def holds(self, node: Node) -> bool:
        """`$this->assertSame(1, 1);`."""
        call = next(named(node), None) if node.type == "expression_statement" else None
        name = _own(call) if call is not None else ""
        if call is None or not name or any(literal(one) is NOTHING for one in arguments(call)):
            return False
        check = asserted(call, name, line(call))
        return check is not None and check.get("idle") == "constant"


def _own(call: Node) -> str:
    """The method of the test itself that an expression calls; empty for anything else."""
    begin, links = links_of(call)
    if call.type == "scoped_call_expression" and is_own(call.child_by_field_name("scope")):
        return plain(call)
    return links[0].name if len(links) == 1 and links[0].called and is_own(begin) else ""
