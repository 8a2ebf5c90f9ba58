"""Whether a test of Java or Kotlin passes whatever the code does.  What is not known to be harmless may throw."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact, Passes
from testlist.kit.checking import NOTHING
from testlist.languages.jvm.checks_annotations import annotations
from testlist.languages.jvm.checks_calls import call_of, literal, parts, plain
from testlist.languages.jvm.checks_functions import Function
from testlist.languages.jvm.checks_origins import CASE, Origins
from testlist.languages.jvm.vocabulary_checks import LIBRARIES
from testlist.sandbox.syntax import text

#: annotations after which nothing more runs, and nothing else is expected
HARMLESS: Final = frozenset({"Test", "DisplayName", "Override", "SuppressWarnings", "Suppress", "Order", "Tag"})
#: base classes of which nothing is known to run that may fail
BASES: Final = frozenset({CASE, f"junit.framework.{CASE}"})
#: what begins a letter by its number, which may be the end of a comment
ESCAPE: Final = b"\\u"
#: methods of JUnit 3 that run around its tests
AROUND: Final = frozenset({"setUp", "tearDown", "runTest", "runBare", "run", "createResult", "suite"})
METHODS: Final = frozenset({"method_declaration", "function_declaration"})
BODIES: Final = frozenset({"class_body", "enum_class_body"})
SUPERTYPES: Final = frozenset({"superclass", "super_interfaces", "delegation_specifiers", "type_parameters"})


def verdict(function: Function, checks: Sequence[CheckFact], known: Origins, quiet: dict[int, bool]) -> Passes | None:
    """Why a test passes; None if it may fail, or if nobody knows.

    quiet: whether a class runs nothing around its tests, by the id of its node; what is found out is kept there.
    """
    if not function.is_method or function.body is None or function.is_broken or len(function.classes) > 1:
        return None
    if not function.is_certain or function.is_extension or ESCAPE in (function.body.text or b""):
        return None
    if not _is_bare(function, known) or not all(_is_quiet(around, known, quiet) for around in function.classes):
        return None
    statements = _statements(function.body)
    if not statements:
        return "empty"
    is_held = all(_is_written_out(one, known) for one in statements) and len(checks) == len(statements)
    return "constant" if is_held and all(check.get("idle") == "constant" for check in checks) else None


def _is_written_out(statement: Node, known: Origins) -> bool:
    """Whether a statement is one call of a library, or `assert`, and is given literals alone."""
    inner = parts(statement)[0] if statement.type == "expression_statement" and parts(statement) else statement
    call = call_of(inner)
    if call is None:
        return statement.type == "assert_statement" and all(literal(one) is not NOTHING for one in parts(statement))
    is_plain = call.block is None and (call.owner is None or call.owner.type == "identifier")
    is_library = known.is_certain(call.name, text(call.owner) if call.owner is not None else "")
    return is_plain and is_library and all(literal(one) is not NOTHING for one in call.given)


def _statements(body: Node) -> list[Node]:
    """The statements of a body; of `fun a() = b`, `b`."""
    if body.type == "function_body":
        inner = parts(body)
        return parts(inner[0]) if len(inner) == 1 and inner[0].type == "block" else inner
    return parts(body)


def _is_bare(function: Function, known: Origins) -> bool:
    """Whether a method takes nothing, and its annotations leave its meaning."""
    return not parts(function.parameters) and _is_harmless(function.node, known)


def _is_quiet(around: Node, known: Origins, quiet: dict[int, bool]) -> bool:
    """Whether a class runs nothing around its tests."""
    if around.id not in quiet:
        members = [one for child in parts(around) if child.type in BODIES for one in parts(child)]
        is_plain = around.type == "class_declaration" and not any(True for _ in annotations(around))
        quiet[around.id] = is_plain and _is_plain(around, known) and all(map(_is_member, members))
    return quiet[around.id]


def _is_harmless(node: Node, known: Origins) -> bool:
    """Whether a method has only annotations that are known, and expects nothing to be thrown."""
    return all(
        name in HARMLESS and not (name == "Test" and (given or not known.is_from("Test", LIBRARIES)))
        for name, given in annotations(node)
    )


def _is_member(method: Node) -> bool:
    """Whether a member of a class is a method that runs around no test."""
    if method.type not in METHODS:
        return False
    names = {name for name, _ in annotations(method)}
    return names <= HARMLESS and plain(method.child_by_field_name("name")) not in AROUND


def _is_plain(around: Node, known: Origins) -> bool:
    """Whether a class has no base whose methods might run, and no constructor."""
    types = [child for child in parts(around) if child.type in SUPERTYPES | {"primary_constructor"}]
    bases = [base for child in types for base in _bases(child)]
    return all(base in BASES and (base != CASE or known.is_case) for base in bases)


def _bases(node: Node) -> Iterator[str]:
    for one in parts(node):
        yield text(one).removesuffix("()")
