"""Whether a test of Java or Kotlin passes whatever the code does.  What is not known to be harmless may throw."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact, Passes
from testlist.kit.checking import NOTHING
from testlist.kit.passing import standing
from testlist.languages.jvm.checks_annotations import annotations
from testlist.languages.jvm.checks_calls import literal, parts, plain
from testlist.languages.jvm.checks_functions import CLASSES, METHODS, Function
from testlist.languages.jvm.checks_origins import CASE, Origins
from testlist.languages.jvm.checks_statements import JvmPassing
from testlist.languages.jvm.vocabulary_checks import LIBRARIES
from testlist.sandbox.syntax import text

#: annotations after which nothing more runs, and nothing else is expected
HARMLESS: Final = frozenset(
    {"Test", "DisplayName", "Override", "SuppressWarnings", "Suppress", "Order", "Tag", "Deprecated"}
)
#: others that a class may have, and other methods of it
STILL: Final = HARMLESS | {
    "ParameterizedTest", "ValueSource", "MethodSource", "CsvSource", "EnumSource", "NullSource", "EmptySource",
    "NullAndEmptySource", "RepeatedTest", "Disabled", "Ignore", "TestFactory", "Timeout", "SafeVarargs", "Nested",
    "DisplayNameGeneration", "JvmStatic", "JvmName", "Throws", "VisibleForTesting", "Nullable",
}  # fmt: skip
#: base classes of which nothing is known to run that may fail
BASES: Final = frozenset({CASE, f"junit.framework.{CASE}"})
#: what begins a letter by its number, which may be the end of a comment
ESCAPE: Final = b"\\u"
#: methods of JUnit 3 that run around its tests
AROUND: Final = frozenset({"setUp", "tearDown", "runTest", "runBare", "run", "createResult", "suite"})
FIELDS: Final = frozenset({"field_declaration", "property_declaration"})
#: what the declaration of a field has besides its value
DECLARING: Final = frozenset({"modifiers", "variable_declaration", "type_identifier"})
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
    return JvmPassing(known).verdict(_statements(function.body), standing(checks))


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
        is_plain = around.type == "class_declaration" and all(name in STILL for name, _ in annotations(around))
        quiet[around.id] = is_plain and _is_plain(around, known) and all(map(_is_member, members))
    return quiet[around.id]


def _is_harmless(node: Node, known: Origins) -> bool:
    """Whether a method has only annotations that are known, and expects nothing to be thrown."""
    return all(
        name in HARMLESS and not (name == "Test" and (given or not known.is_from("Test", LIBRARIES)))
        for name, given in annotations(node)
    )


def _is_member(member: Node) -> bool:
    """Whether a member of a class runs around no test: a method, a class, or a field whose value is written out."""
    names = {name for name, _ in annotations(member)}
    if member.type in METHODS:
        return names <= STILL and plain(member.child_by_field_name("name")) not in AROUND
    if member.type in FIELDS:
        return names <= STILL and all(map(_is_value, parts(member)))
    return member.type in CLASSES - {"companion_object"}


def _is_value(part: Node) -> bool:
    """Whether a part of the declaration of a field is no value, or one that is written out."""
    if part.type == "variable_declarator":
        value = part.child_by_field_name("value")
        return value is None or literal(value) is not NOTHING
    return part.type in DECLARING or part.type.endswith("_type") or literal(part) is not NOTHING


def _is_plain(around: Node, known: Origins) -> bool:
    """Whether a class has no base whose methods might run, and no constructor."""
    types = [child for child in parts(around) if child.type in SUPERTYPES | {"primary_constructor"}]
    bases = [base for child in types for base in _bases(child)]
    return all(base in BASES and (base != CASE or known.is_case) for base in bases)


def _bases(node: Node) -> Iterator[str]:
    for one in parts(node):
        yield text(one).removesuffix("()")
