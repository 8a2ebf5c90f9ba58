"""Whether a JavaScript test passes whatever the code does.  What is not known to be harmless may throw."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import Passes
from testlist.kit.passing import Passing
from testlist.languages.javascript.checks_chains import checked, literal_of, name_of, parts_of
from testlist.languages.javascript.vocabulary import TESTS
from testlist.sandbox.syntax import named, text

#: a file with any of these may run more around its tests than they say
SURROUNDED: Final = re.compile(
    rb"\b(?:(?:before|after)(?:Each|All)|suiteSetup|suiteTeardown|hasAssertions|expectAssertions|onTestFailed"
    rb"|onTestFinished|unhandledRejection)\b"
    rb"|\b(?:before|after|setup|teardown|plan|assertions|failing|fails)\b\s*+(?:[(,}=.:\[?]|as\b)"
    rb"|\bprocess\b\s*+(?:[^.\s]|\?*\.\s*+(?:on|once|exit\w*|addListener|prepend\w*|emit)\b)"
)
#: what is written out and throws nothing
WRITTEN: Final = frozenset({"string", "number", "true", "false", "null", "undefined"})
DECLARATIONS: Final = frozenset({"lexical_declaration", "variable_declaration"})
#: what does not throw where it stands, but later or elsewhere
LATER: Final = re.compile(
    rb"\b(?:async|await|then|Promise|setTimeout|setInterval|nextTick|yield|done|exit|on|once|soft|poll)\b(?!\s*+:)"
)
#: the name that an expression begins with
FIRST: Final = re.compile(rb"[\w$]*+")


def is_alone(source: bytes) -> bool:
    """Whether nothing in a file runs around its tests."""
    return not SURROUNDED.search(source)


def verdict(place: Node, function: Node, statements: Sequence[Node], own: frozenset[str]) -> Passes | None:
    """Why a test passes whatever the code does; None if it may fail, or if nobody knows.

    place: the call that registers it; own: names of the file that may mean anything.
    """
    several = function.child_by_field_name("parameters")
    if function.child_by_field_name("parameter") is not None or any(True for _ in named(several)):
        return None  # a callback has to be called, and a fixture may fail
    if place.type != "call_expression" or name_of(place) not in TESTS or _is_own(place, own):
        return None
    return JavaScriptPassing(own).verdict(statements, lambda node: _checks(node, own))


class JavaScriptPassing(Passing):
    """One body.  own: see verdict."""

    written = frozenset({*WRITTEN, "string_fragment", "escape_sequence", "array"})

    def __init__(self, own: frozenset[str]) -> None:
        super().__init__()
        self.own = own
        self.constants: set[str] = set()

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal_of(node)

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:
        """`const a = 1`, `a = 2`, and what is only written."""
        if node.type == "empty_statement":
            return iter(())
        if node.type in DECLARATIONS:
            return self._declared(node)
        inner = next(named(node), None) if node.type == "expression_statement" else None
        if inner is None or inner.type != "assignment_expression":
            return iter([(None, inner)]) if inner is not None and inner.type in WRITTEN else None
        left = inner.child_by_field_name("left")
        is_local = text(left) in self.known and text(left) not in self.constants
        return iter([(left, inner.child_by_field_name("right"))]) if is_local else None

    def _declared(self, node: Node) -> Iterator[tuple[Node | None, Node | None]]:
        for one in named(node):
            name, value = one.child_by_field_name("name"), one.child_by_field_name("value")
            if text(node.child_by_field_name("kind")) == "const":
                self.constants.add(text(name))
            yield name, value

    def leaves(self, node: Node) -> bool:
        """See Passing."""
        return node.type == "return_statement" and all(one.type in WRITTEN for one in named(node))

    def swallows(self, node: Node) -> bool:
        """`try { … } catch { }`."""
        return node.type == "try_statement" and is_swallowed(node, self.own) and not LATER.search(node.text or b"")

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:
        """See Passing."""
        condition, inner = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if node.type != "if_statement" or condition is None or inner is None:
            return None
        if node.child_by_field_name("alternative") is not None:
            return None
        return condition, list(named(inner)) if inner.type == "statement_block" else [inner]

    def holds(self, node: Node) -> bool:
        """`expect(1).toBe(1)`."""
        inner = next(named(node), None) if node.type == "expression_statement" else None
        return inner is not None and not _is_own(inner, self.own) and _is_true(inner)


def _is_true(node: Node) -> bool:
    """Whether a check compares two equal literals, and is given nothing else."""
    check = checked(node)
    is_constant = check is not None and check.get("idle") == "constant"
    return is_constant and all(part.type in WRITTEN for part in parts_of(node))


def _is_own(node: Node, own: frozenset[str]) -> bool:
    """Whether an expression begins with one of some names."""
    found = FIRST.match(node.text or b"")
    return found is not None and found.group().decode("utf-8", "replace") in own


def is_swallowed(node: Node, own: frozenset[str]) -> bool:
    """Whether a `try` with a check catches whatever happens in it, and drops it.  own: see verdict."""
    handler, body = node.child_by_field_name("handler"), node.child_by_field_name("body")
    if handler is None or body is None or node.child_by_field_name("finalizer") is not None:
        return False
    block = handler.child_by_field_name("body")
    return block is not None and not list(named(block)) and _checks(body, own)


def _checks(node: Node, own: frozenset[str]) -> bool:
    """Whether a check stands in it, which is a library's."""
    is_check = checked(node, own) is not None and not _is_own(node, own)
    return is_check or any(_checks(one, own) for one in named(node))
