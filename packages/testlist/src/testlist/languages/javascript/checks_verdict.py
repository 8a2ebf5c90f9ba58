"""Whether a JavaScript test passes whatever the code does.  What is not known to be harmless may throw."""

import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import Passes
from testlist.languages.javascript.checks_chains import checked, name_of, parts_of
from testlist.languages.javascript.vocabulary import TESTS
from testlist.sandbox.syntax import named

#: a file with any of these may run more around its tests than they say
SURROUNDED: Final = re.compile(
    rb"\b(?:before|after|beforeEach|afterEach|beforeAll|afterAll|setup|teardown|suiteSetup|hasAssertions|assertions"
    rb"|expectAssertions|plan|failing|fails|onTestFailed|onTestFinished|process|unhandledRejection)\b"
)
#: what is written out and throws nothing
WRITTEN: Final = frozenset({"string", "number", "true", "false", "null", "undefined"})
#: what does not throw where it stands, but later or elsewhere
LATER: Final = re.compile(rb"\b(?:async|await|then|Promise|setTimeout|setInterval|nextTick|yield|done|exit|on|once)\b")


def is_alone(source: bytes) -> bool:
    """Whether nothing in a file runs around its tests."""
    return not SURROUNDED.search(source)


def verdict(place: Node, function: Node, statements: Sequence[Node]) -> Passes | None:
    """Why a test passes whatever the code does; None if it may fail, or if nobody knows.

    place: the call that registers it.
    """
    several = function.child_by_field_name("parameters")
    if function.child_by_field_name("parameter") is not None or any(True for _ in named(several)):
        return None  # a callback has to be called, and a fixture may fail
    if place.type != "call_expression" or name_of(place) not in TESTS:
        return None
    if not statements:
        return "empty"
    reasons: list[Passes] = []
    for number, node in enumerate(statements):
        if node.type == "return_statement" and all(one.type in WRITTEN for one in named(node)):
            rest = statements[number + 1 :]
            return "unreachable" if any(map(_checks, rest)) else None
        if (reason := _passes(node)) is None:
            return None
        reasons.append(reason)
    return next((one for one in ("ignored", "constant") if one in reasons), "no_check")


def _passes(node: Node) -> Passes | None:
    """Why a statement is no failed check, and throws nothing; None if it may."""
    if node.type == "try_statement":
        return "ignored" if is_swallowed(node) and not LATER.search(node.text or b"") else None
    inner = next(named(node), None)
    if node.type == "empty_statement":
        return "no_check"
    if node.type != "expression_statement" or inner is None:
        return None
    if inner.type in WRITTEN:
        return "no_check"
    return "constant" if _is_true(inner) else None


def _is_true(node: Node) -> bool:
    """Whether a check compares two equal literals, and is given nothing else."""
    check = checked(node)
    is_constant = check is not None and check.get("idle") == "constant"
    return is_constant and all(part.type in WRITTEN for part in parts_of(node))


def is_swallowed(node: Node) -> bool:
    """Whether a `try` with a check catches whatever happens in it, and drops it."""
    handler, body = node.child_by_field_name("handler"), node.child_by_field_name("body")
    if handler is None or body is None or node.child_by_field_name("finalizer") is not None:
        return False
    block = handler.child_by_field_name("body")
    return block is not None and not list(named(block)) and _checks(body)


def _checks(node: Node) -> bool:
    """Whether a check stands in it."""
    return checked(node) is not None or any(map(_checks, named(node)))
