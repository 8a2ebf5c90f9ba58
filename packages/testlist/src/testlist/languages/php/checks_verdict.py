"""Why a test of PHPUnit passes whatever the code does: said only where its file shows all that runs around it."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact, Passes
from testlist.kit.passing import standing
from testlist.languages.php.checks_statements import PhpPassing
from testlist.languages.php.facts_names import Names
from testlist.sandbox.syntax import named, text

#: a file with any of these may run more around its tests than they say, or ask more of them
SURROUNDED: Final = re.compile(
    rb"\b(?:set_?up|tear_?down|assertPreConditions|assertPostConditions|run(?:Bare|Test)|invokeTestMethod|verifyMockObjects|__construct|__destruct|onNotSuccessful)"
    rb"|[\[\\,{(@]\s*+(?:(?:Before|After)(?:Class)?|(?:Pre|Post)Condition)\b",
    re.IGNORECASE,
)
#: what a class of tests is, of which nothing more is known to run around them
BASES: Final = frozenset({"phpunit\\framework\\testcase", "phpunit_framework_testcase"})
#: what may stand above a method and does not change what it does
TAG: Final = re.compile(r"@([\w-]+)")
HARMLESS: Final = frozenset(
    {"test", "return", "group", "covers", "coversNothing", "author", "since", "small", "medium"}
)
MARK: Final = "#[Test]"
#: what is in a class of tests: of these, values are worked out before any of its methods runs
METHOD: Final = "method_declaration"
VALUED: Final = frozenset({"property_declaration", "const_declaration"})
#: what a value is made of that is known to raise nothing
WRITTEN: Final = frozenset(
    {"integer", "float", "string", "boolean", "null", "encapsed_string", "string_content", "escape_sequence",
     "array_creation_expression", "array_element_initializer", "unary_op_expression"}
)  # fmt: skip
#: deeper values are given up
DEEPEST: Final = 20


def surroundings(source: bytes) -> Callable[[Node, Names], bool]:
    """What says of a class of this file whether only its methods run."""
    is_plain = not SURROUNDED.search(source)
    return lambda node, names: is_plain and _is_bare(node, names)


def _is_bare(node: Node, names: Names) -> bool:
    bases = [names.full(text(base)).lower() for one in named(node) if one.type == "base_clause" for base in named(one)]
    is_marked = node.child_by_field_name("attributes") is not None
    is_based = len(bases) == 1 and bases[0] in BASES and not is_marked
    name = text(node.child_by_field_name("name")).lower()
    return is_based and all(_is_quiet(member, name) for member in named(node.child_by_field_name("body")))


def _is_quiet(member: Node, owner: str) -> bool:
    """Whether a member of a class is a method and not its constructor, or has values that are written out."""
    if member.type == METHOD:
        return text(member.child_by_field_name("name")).lower() != owner
    if member.type not in VALUED:
        return False
    for one in named(member):
        if one.type == "property_element":
            value = one.child_by_field_name("default_value")
        elif one.type == "const_element":
            value = one.named_children[-1]
        else:
            value = one if one.type == "ERROR" else None
        if value is not None and not _is_written(value, 0):
            return False
    return True


def _is_written(value: Node, depth: int) -> bool:
    if value.type not in WRITTEN:
        return value.type == "class_constant_access_expression" and text(value).lower().endswith("::class")
    return depth < DEEPEST and all(_is_written(one, depth + 1) for one in named(value))


def verdict(method: Node, body: Node, names: Names, checks: Sequence[CheckFact]) -> Passes | None:
    """Why a method of such a class passes; None where it may fail, or nobody knows."""
    marks = method.child_by_field_name("attributes")
    has_parameters = any(True for _ in named(method.child_by_field_name("parameters")))
    if has_parameters or not HARMLESS.issuperset(tag for one in _above(method) for tag in TAG.findall(text(one))):
        return None
    if marks is not None and text(marks) != MARK:
        return None
    return PhpPassing(names).verdict(list(named(body)), standing(checks))


def _above(method: Node) -> Iterator[Node]:
    """The comments above a method."""
    above = method.prev_named_sibling
    while above is not None and above.type == "comment":
        yield above
        above = above.prev_named_sibling
