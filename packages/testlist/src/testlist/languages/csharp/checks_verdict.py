"""Why a test passes whatever the code does: said only where its file shows all around it."""

import re
from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import Passes
from testlist.languages.csharp.checks_statements import CSharpPassing
from testlist.languages.csharp.facts_attributes import read
from testlist.sandbox.syntax import named, text

#: a file, and a class, with any of these may run more around its tests than they say
GLOBAL: Final = re.compile(
    rb"SetUpFixture|Assembly(?:Initialize|Cleanup)|BeforeAfterTest|ITestAction|(?:Before|After)Every|\[\s*+assembly\s*+:"
)
SURROUNDED: Final = re.compile(r"SetUp|TearDown|Initialize|Cleanup|Fixture<|Dispose|\[\s*+(?:Before|After)\s*+\(")
#: a file that calls something else by the name of the class of checks, or whose tests are about checks
ANOTHER: Final = re.compile(rb"\b(?:using|class|struct|record)\s++Assert\b(?!\s*+;)|\bclass\s++\w{0,80}?Assert")
#: a file that calls another attribute by the name of one
RENAMED: Final = re.compile(rb"\busing\s++(?:Fact|Test|TestMethod|TestClass|TestFixture)\s*+=(?!\s*+(?:Xunit|NUnit)\.)")
#: attributes of a class that may have arguments
STILL: Final = frozenset(
    {
        "Parallelizable",
        "NonParallelizable",
        "ExcludeFromCodeCoverage",
        "SupportedOSPlatform",
        "UnsupportedOSPlatform",
        "SuppressMessage",
    }
)
#: attributes of a class and of a method under which nothing more is done
CLASSES: Final = frozenset({"TestFixture", "TestClass", "Trait", "Category", "TestCategory", *STILL})
METHODS: Final = frozenset({"Fact", "Test", "TestMethod"})
FORGETS: Final = frozenset({"Fact", "TestMethod"})
BESIDE: Final = frozenset({"Trait", "Category", "TestCategory", "Owner", "Description", "Priority"})
#: classes that are not all there, and those of which others are made
OPEN: Final = frozenset({"partial", "abstract"})
#: what may be in a class of tests and is not run before each
MEMBERS: Final = frozenset(
    {"method_declaration", "class_declaration", "enum_declaration", "struct_declaration", "record_declaration",
     "interface_declaration", "delegate_declaration"}
)  # fmt: skip
#: a field without a value, or with one that is written out
WRITTEN: Final = re.compile(
    r"[^=]++(?:=\s*+(?:-?\d[\w.]*+|\"[^\"\\\n]*+\"|'[^'\\\n]'|true|false|null|Environment\.NewLine|(?:string|String)\.Empty)\s*+)?;?"
)
#: what MSTest gives a class of tests
CONTEXT: Final = "TestContext"
#: parts of a class that say that it has a base, or arguments
PARTS: Final = frozenset({"base_list", "parameter_list", "type_parameter_list"})


def is_bare(source: bytes) -> bool:
    """Whether nothing in a file runs around its tests, and their attributes are those of the libraries."""
    return not GLOBAL.search(source) and not RENAMED.search(source)


def asserts(source: bytes) -> bool:
    """Whether `Assert` is what a library has."""
    return not ANOTHER.search(source)


def is_plain(node: Node, written: Callable[[Node], str]) -> bool:
    """Whether only its methods run of a class.  written: the source of a node, of which values are not parsed."""
    if (
        SURROUNDED.search(written(node))
        or node.type != "class_declaration"
        or any(child.type in PARTS for child in named(node))
    ):
        return False
    marks = [name for name, _ in read(node)]
    is_whole = not any(child.type == "modifier" and text(child) in OPEN for child in named(node))
    members = named(node.child_by_field_name("body"))
    has_arguments = any(_has_arguments(mark) and _name(mark) not in BESIDE | STILL for mark in _marks(node))
    return (
        is_whole and not has_arguments and CLASSES.issuperset(marks) and all(_is_quiet(one, written) for one in members)
    )


def _is_quiet(member: Node, written: Callable[[Node], str]) -> bool:
    """Whether a member of a class runs around no test."""
    if member.type == "field_declaration":
        is_constant = any(text(one) == "const" for one in named(member))
        return not _marks(member) and (is_constant or WRITTEN.fullmatch(written(member)) is not None)
    if member.type == "property_declaration":
        return not _marks(member) and text(member.child_by_field_name("type")) == CONTEXT
    return member.type in MEMBERS


def _name(mark: Node) -> str:
    return text(mark.child_by_field_name("name")).removesuffix("Attribute")


def verdict(method: Node, block: Node, own: frozenset[str] | None, has_check: Callable[[Node], bool]) -> Passes | None:
    """Why a method of such a class passes; None where it may fail, or nobody knows.  block: its body, parsed alone.

    own: names of the file, None if `Assert` may be another's; has_check: whether one stands in a node.
    """
    if list(named(method.child_by_field_name("parameters"))) or not _is_harmless(method):
        return None
    if any(one.type == "type_parameter_list" for one in named(method)):
        return None  # runners refuse what is generic, which fails
    if block.type != "block" or block.has_error:
        return None
    # NUnit counts a failed check however its exception ends, and so may a runner that nobody knows
    catches = any(_name(mark) in FORGETS for mark in _marks(method))
    return CSharpPassing(own, catches=catches).verdict(list(named(block)), has_check)


def _is_harmless(method: Node) -> bool:
    """Whether the attributes of a method make it a test, and do nothing else."""
    for mark in _marks(method):
        name = _name(mark)
        if mark.type != "attribute" or not (name in BESIDE or (name in METHODS and not _has_arguments(mark))):
            return False
    return True


def _marks(node: Node) -> list[Node]:
    """The attributes of a declaration."""
    return [one for child in named(node) if child.type == "attribute_list" for one in named(child)]


def _has_arguments(mark: Node) -> bool:
    return any(child.type == "attribute_argument_list" and any(True for _ in named(child)) for child in named(mark))
