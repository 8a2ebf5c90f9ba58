"""What the functions of one Swift file check, and what they call: read from whole files, on demand."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, Passes
from testlist.languages.swift.checks_bases import bases_of
from testlist.languages.swift.checks_calls import arguments, name_of
from testlist.languages.swift.checks_functions import statements_of
from testlist.languages.swift.checks_walk import Walk
from testlist.model import Facts
from testlist.sandbox.syntax import line, named, parse, text

SWIFT: Final = "swift"
#: a file with any of these may run more around its tests than they say
SURROUNDED: Final = re.compile(
    rb"\b(?:setUp|tearDown|setUpWithError|tearDownWithError|init|deinit|invokeTest|performTest|addTeardownBlock"
    rb"|continueAfterFailure|TestScoping|SuiteTrait|TestTrait)\b"
)
NIMBLE: Final = re.compile(rb"\bimport\s+Nimble\b")
#: types in types that are looked into
DEEPEST: Final = 40
#: what may be in a type of tests besides its properties, and attributes of it
MEMBERS: Final = frozenset({"function_declaration", "class_declaration", "typealias_declaration", "directive"})
ATTRIBUTES: Final = frozenset({"@MainActor", "@Suite", "@objcMembers"})
#: properties that are worked out when somebody asks for them
LATER: Final = frozenset({"lazy", "static", "class"})
#: functions whose checks of literals are known to hold or not
CONSTANT: Final = frozenset({"XCTAssert", "XCTAssertTrue", "XCTAssertFalse", "XCTAssertEqual", "XCTAssertNotEqual"})
WRITTEN: Final = frozenset({"line_string_literal", "integer_literal", "boolean_literal"})


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    root = parse(source, SWIFT)
    found = [*islice(_functions(root, (), 0, alone=True), MOST_FUNCTIONS)]
    methods: dict[str, set[str]] = {}
    for one in found:
        methods.setdefault(".".join(one.types), set()).add(one.name)
    alike = Counter((one.types, one.name) for one in found)
    alone, nimble = not SURROUNDED.search(source), NIMBLE.search(source) is not None
    bodies: list[BodyFact] = []
    for one in found:
        own = frozenset(methods[".".join(one.types)]) if one.types else frozenset[str]()
        walk = Walk(own=own, near=frozenset(methods.get("", ())), typed=bool(one.types), nimble=nimble)
        walk.node(one.body)
        around = ".".join(one.types)
        if alike[one.types, one.name] > 1:
            around = f"{around}({line(one.node)})"  # which of them a call means is not known
        name = f"{around}.{one.name}" if around else one.name
        body = walk.body(name, one.node.child_by_field_name("name") or one.node, one.node)
        if alone and one.alone and (passes := _passes(one, body)):
            body["passes"] = passes
        bodies.append(body)
    facts: BodiesFact = {"functions": bodies, "bases": bases_of(root)}
    return {**facts}


@dataclass(frozen=True, slots=True)
class _Function:
    """One function.  types: around it; alone: nothing of these types changes what a test in them means."""

    node: Node
    name: str
    types: tuple[str, ...]
    body: Node
    alone: bool


def _functions(block: Node, types: tuple[str, ...], depth: int, *, alone: bool) -> Iterator[_Function]:
    """Functions of a file and its types, also those that stand in other functions."""
    for node in named(block) if depth < DEEPEST else ():
        body = node.child_by_field_name("body")
        if node.type == "function_declaration" and body is not None:
            yield _Function(node, text(node.child_by_field_name("name")).strip("`"), types, body, alone)
            for statements in named(body):
                yield from _functions(statements, types, depth + 1, alone=False)
        elif node.type == "class_declaration" and body is not None:
            names = re.sub(r"<.*", "", text(node.child_by_field_name("name")), flags=re.DOTALL).split(".")
            inner = (*types, *(one.strip("` \n") for one in names))
            yield from _functions(body, inner, depth + 1, alone=alone and _is_plain(node))
        elif node.type == "ERROR":
            yield from _functions(node, types, depth + 1, alone=False)


def _is_plain(node: Node) -> bool:
    """Whether a type inherits from XCTest's case or nothing, and nothing runs when it is made."""
    bases = [text(one) for one in named(node) if one.type == "inheritance_specifier"]
    is_extension = text(node.child_by_field_name("declaration_kind")) == "extension"
    said = [one for one in _modifiers(node) if one.startswith("@") and one not in ATTRIBUTES]
    is_bare = not is_extension and bases in ([], ["XCTestCase"]) and not said
    return is_bare and all(map(_is_quiet, named(node.child_by_field_name("body"))))


def _is_quiet(member: Node) -> bool:
    """Whether a member of a type is none of its base, and no property but of a value that is written or made later."""
    modifiers, value = _modifiers(member), member.child_by_field_name("value")
    if "override" in modifiers:
        return False
    if member.type != "property_declaration":
        return member.type in MEMBERS
    if any(one.startswith("@") for one in modifiers):
        return False
    return value is None or _is_written(value) or any(one in LATER for one in modifiers)


def _is_written(value: Node) -> bool:
    """Whether a value is a literal with nothing in it that is worked out."""
    return value.type in WRITTEN and b"\\(" not in (value.text or b"")


def _modifiers(node: Node) -> list[str]:
    return [text(one) for part in named(node) if part.type == "modifiers" for one in named(part)]


def _passes(function: _Function, body: BodyFact) -> Passes | None:
    """Why a test passes whatever the code does: it is empty, or checks what is written there."""
    node = function.node
    modifiers = _modifiers(node)
    is_test = function.name.startswith("test") and not modifiers and len(function.types) == 1
    is_marked = all(re.fullmatch(r'@Test(?:\("[^"\\]*"\))?', one) for one in modifiers) and bool(modifiers)
    if not (is_test or is_marked) or any(child.type == "parameter" for child in named(node)):
        return None
    statements = statements_of(function.body)
    if not statements:
        return "empty"
    is_constant = _are_constant(statements) and len(body["checks"]) == len(statements)
    return "constant" if is_constant and all("idle" in one for one in body["checks"]) else None


def _are_constant(statements: Sequence[Node]) -> bool:
    """Whether each statement is a check of literals that is given nothing else."""
    for one in statements:
        if one.type != "call_expression" or name_of(one) not in CONSTANT:
            return False
        values = [argument.value for argument in arguments(one)]
        if not all(map(_is_written, values)):
            return False
    return True
