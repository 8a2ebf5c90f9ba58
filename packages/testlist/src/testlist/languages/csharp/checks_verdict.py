"""Why a test of xUnit, NUnit or MSTest passes whatever the code does: said only where its file shows all around it."""

import re
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import Passes
from testlist.kit.checking import NOTHING
from testlist.languages.csharp.checks_calls import asserted, owned
from testlist.languages.csharp.checks_links import links_of, literal, plain
from testlist.languages.csharp.facts_attributes import read
from testlist.sandbox.syntax import named, text

#: a file with any of these may run more around its tests than they say
SURROUNDED: Final = re.compile(
    rb"SetUp|TearDown|Initialize|Cleanup|Fixture<|BeforeAfterTest|Dispose|ITestAction|\[\s*+assembly\s*+:"
)
#: a file that calls something else by the name of the class of checks
ANOTHER: Final = re.compile(rb"\b(?:using|class|struct|record)\s++Assert\b(?!\s*+;)")
ASSERT: Final = "Assert"
#: attributes of a class and of a method under which nothing more is done
CLASSES: Final = frozenset({"TestFixture", "TestClass"})
METHODS: Final = frozenset({"Fact", "Test", "TestMethod"})
BESIDE: Final = frozenset({"Trait", "Category", "TestCategory", "Owner", "Description", "Priority"})
#: classes that are not all there, and those of which others are made
OPEN: Final = frozenset({"partial", "abstract"})
#: what may be in a class of tests and is not run before each
MEMBERS: Final = frozenset({"method_declaration", "class_declaration"})
#: parts of a class that say that it has a base, or arguments
PARTS: Final = frozenset({"base_list", "parameter_list", "type_parameter_list"})


def is_bare(source: bytes) -> bool:
    """Whether nothing in a file runs around its tests, and `Assert` is what a library has."""
    return not SURROUNDED.search(source) and not ANOTHER.search(source)


def is_plain(node: Node) -> bool:
    """Whether only its methods run of a class."""
    if node.type != "class_declaration" or any(child.type in PARTS for child in named(node)):
        return False
    marks = [name for name, _ in read(node)]
    is_whole = not any(child.type == "modifier" and text(child) in OPEN for child in named(node))
    members = named(node.child_by_field_name("body"))
    has_arguments = any(_has_arguments(mark) for mark in _marks(node))
    return (
        is_whole and not has_arguments and CLASSES.issuperset(marks) and all(child.type in MEMBERS for child in members)
    )


def passes(method: Node, block: Node) -> Passes | None:
    """Why a method of such a class passes; None where it may fail, or nobody knows.  block: its body, parsed alone."""
    if list(named(method.child_by_field_name("parameters"))) or not _is_harmless(method):
        return None
    statements = list(named(block))
    if block.type != "block" or block.has_error:
        return None
    if not statements:
        return "empty"
    return "constant" if all(map(_holds, statements)) else None


def _is_harmless(method: Node) -> bool:
    """Whether the attributes of a method make it a test, and do nothing else."""
    for mark in _marks(method):
        name = text(mark.child_by_field_name("name")).removesuffix("Attribute")
        if mark.type != "attribute" or not (name in BESIDE or (name in METHODS and not _has_arguments(mark))):
            return False
    return True


def _marks(node: Node) -> list[Node]:
    """The attributes of a declaration."""
    return [one for child in named(node) if child.type == "attribute_list" for one in named(child)]


def _has_arguments(mark: Node) -> bool:
    return any(child.type == "attribute_argument_list" for child in named(mark))


def _holds(statement: Node) -> bool:
    """Whether a statement is a check of literals that is known to hold, and is given nothing else."""
    call = next(named(statement), None) if statement.type == "expression_statement" else None
    if call is None:
        return False
    begin, links = links_of(call)
    owner, link = owned(begin, links)
    if link is None or links != [link] or plain(begin) != ASSERT:
        return False
    if any(literal(one) is NOTHING for one in link.given):
        return False
    checks = list(asserted(owner, link, 0, value_first=None))
    return bool(checks) and all(check.get("idle") == "constant" for check in checks)
