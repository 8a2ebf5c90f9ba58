"""Whether a test of Java or Kotlin passes whatever the code does.  What is not known to be harmless may throw."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact, Passes
from testlist.kit.checking import NOTHING
from testlist.languages.jvm.checks_annotations import annotations
from testlist.languages.jvm.checks_calls import call_of, literal, parts, plain
from testlist.languages.jvm.checks_functions import Function
from testlist.sandbox.syntax import text

#: annotations after which nothing more runs, and nothing else is expected
HARMLESS: Final = frozenset({"Test", "DisplayName", "Override", "SuppressWarnings", "Suppress", "Order", "Tag"})
#: base classes of which nothing is known to run that may fail
BASES: Final = frozenset({"TestCase", "junit.framework.TestCase"})
#: methods of JUnit 3 that run around its tests
AROUND: Final = frozenset({"setUp", "tearDown", "runTest", "runBare", "run", "createResult", "suite"})
METHODS: Final = frozenset({"method_declaration", "function_declaration"})
BODIES: Final = frozenset({"class_body", "enum_class_body"})
SUPERTYPES: Final = frozenset({"superclass", "super_interfaces", "delegation_specifiers", "type_parameters"})


def verdict(function: Function, checks: Sequence[CheckFact], quiet: dict[int, bool]) -> Passes | None:
    """Why a test passes; None if it may fail, or if nobody knows.

    quiet: whether a class runs nothing around its tests, by the id of its node; what is found out is kept there.
    """
    if not function.is_method or function.body is None or function.is_broken or len(function.classes) > 1:
        return None
    if not _is_bare(function) or not all(_is_quiet(around, quiet) for around in function.classes):
        return None
    statements = _statements(function.body)
    if not statements:
        return "empty"
    is_held = all(map(_is_written_out, statements)) and len(checks) == len(statements)
    return "constant" if is_held and all(check.get("idle") == "constant" for check in checks) else None


def _is_written_out(statement: Node) -> bool:
    """Whether a statement is one call, or `assert`, and is given literals alone."""
    inner = parts(statement)[0] if statement.type == "expression_statement" and parts(statement) else statement
    call = call_of(inner)
    if call is None:
        return statement.type == "assert_statement" and all(literal(one) is not NOTHING for one in parts(statement))
    is_plain = call.block is None and (call.owner is None or call.owner.type == "identifier")
    return is_plain and all(literal(one) is not NOTHING for one in call.given)


def _statements(body: Node) -> list[Node]:
    """The statements of a body; of `fun a() = b`, `b`."""
    if body.type == "function_body":
        inner = parts(body)
        return parts(inner[0]) if len(inner) == 1 and inner[0].type == "block" else inner
    return parts(body)


def _is_bare(function: Function) -> bool:
    """Whether a method takes nothing, and its annotations leave its meaning."""
    return not parts(function.parameters) and _is_harmless(function.node)


def _is_quiet(around: Node, quiet: dict[int, bool]) -> bool:
    """Whether a class runs nothing around its tests."""
    if around.id not in quiet:
        members = [one for child in parts(around) if child.type in BODIES for one in parts(child)]
        is_plain = around.type == "class_declaration" and not any(True for _ in annotations(around))
        quiet[around.id] = is_plain and _is_plain(around) and all(map(_is_member, members))
    return quiet[around.id]


def _is_harmless(node: Node) -> bool:
    """Whether a method has only annotations that are known, and expects nothing to be thrown."""
    return all(name in HARMLESS and not (name == "Test" and given) for name, given in annotations(node))


def _is_member(method: Node) -> bool:
    """Whether a member of a class is a method that runs around no test."""
    if method.type not in METHODS:
        return False
    names = {name for name, _ in annotations(method)}
    return names <= HARMLESS and plain(method.child_by_field_name("name")) not in AROUND


def _is_plain(around: Node) -> bool:
    """Whether a class has no base whose methods might run, and no constructor."""
    types = [child for child in parts(around) if child.type in SUPERTYPES | {"primary_constructor"}]
    return all(base in BASES for child in types for base in _bases(child))


def _bases(node: Node) -> Iterator[str]:
    for one in parts(node):
        yield text(one).removesuffix("()")
