"""What the functions of one Swift file check, and what they call: read from whole files, on demand."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, Passes
from testlist.kit.passing import settle, standing
from testlist.languages.swift.checks_bases import bases_of
from testlist.languages.swift.checks_functions import statements_of
from testlist.languages.swift.checks_names import Function, Names
from testlist.languages.swift.checks_verdict import SwiftPassing, is_written
from testlist.languages.swift.checks_walk import Walk
from testlist.model import Facts
from testlist.sandbox.syntax import named, parse, text

SWIFT: Final = "swift"
TYPE: Final = "class_declaration"
#: a file with any of these may run more around its tests than they say
SURROUNDED: Final = re.compile(
    rb"\b(?:setUp|tearDown|setUpWithError|tearDownWithError|invokeTest|performTest|addTeardownBlock"
    rb"|continueAfterFailure|TestScoping|SuiteTrait|TestTrait)\b"
)
NIMBLE: Final = re.compile(rb"\bimport\s+Nimble\b")
#: types in types that are looked into
DEEPEST: Final = 40
#: what may be in a type of tests besides its properties, and attributes of it
MEMBERS: Final = frozenset({"function_declaration", "class_declaration", "typealias_declaration", "directive"})
ATTRIBUTES: Final = re.compile(
    r'@(?:MainActor|objcMembers|available\([\w.,*]+\)|Suite(?:\((?:"[^"\\]*")?,?(?:\.tags\([\w.,]+\),?)?\))?)'
)
#: what may stand above a test of Swift Testing, and above one of XCTest
MARKS: Final = re.compile(r'@Test(?:\((?:"[^"\\]*")?,?(?:\.tags\([\w.,]+\),?)?\))?')
OPEN: Final = frozenset({"public", "internal", "open"})
AVAILABLE: Final = re.compile(r"@available\([\w.,*]+\)")
#: what is left out of an attribute before it is looked at
BLANK: Final = re.compile(r"//[^\n]*|\s+")
#: properties that are worked out when somebody asks for them
LATER: Final = frozenset({"lazy", "static", "class"})


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    root = parse(source, SWIFT)
    plain = frozenset(
        text(one.child_by_field_name("name")) for one in named(root) if one.type == TYPE and _is_plain(one)
    )
    found = [*islice(_functions(root, (), 0, plain, alone=True), MOST_FUNCTIONS)]
    names = Names(found)
    alone, nimble = not SURROUNDED.search(source), NIMBLE.search(source) is not None
    bodies: list[BodyFact] = []
    for one in found:
        walk = Walk(names=names.seen_from(one), typed=bool(one.types), nimble=nimble)
        walk.node(one.body)
        name, around = names.full(one), ".".join(one.types)
        body = walk.body(name, one.node.child_by_field_name("name") or one.node, one.node)
        if name.rpartition(".")[0] != around:
            body["around"] = around
        if alone and one.alone:
            settle(body, _passes(one, body))
        bodies.append(body)
    facts: BodiesFact = {"functions": bodies, "bases": bases_of(root)}
    return {**facts}


def _functions(
    block: Node, types: tuple[str, ...], depth: int, plain: frozenset[str], *, alone: bool, outer: tuple[Node, ...] = ()
) -> Iterator[Function]:
    """Functions of a file and its types, also those that stand in other functions.

    outer: the functions around a block; plain: types of the file that run nothing when they are made, so that their
    extensions may hold tests too.
    """
    for node in named(block) if depth < DEEPEST else ():
        body = node.child_by_field_name("body")
        if node.type == "function_declaration" and body is not None:
            yield Function(node, text(node.child_by_field_name("name")).strip("`"), types, outer, body, alone)
            for inside in named(body):
                yield from _functions(inside, types, depth + 1, plain, alone=False, outer=(*outer, node))
        elif node.type == TYPE and body is not None:
            names = re.sub(r"<.*", "", text(node.child_by_field_name("name")), flags=re.DOTALL).split(".")
            inner = (*types, *(one.strip("` \n") for one in names))
            is_plain = _is_plain(node) or _extends(node, plain)
            yield from _functions(body, inner, depth + 1, plain, alone=alone and is_plain)
        elif node.type == "ERROR":
            yield from _functions(node, types, depth + 1, plain, alone=False, outer=outer)


def _is_plain(node: Node) -> bool:
    """Whether a type inherits from XCTest's case or nothing, and nothing runs when it is made."""
    bases = [text(one) for one in named(node) if one.type == "inheritance_specifier"]
    is_extension = text(node.child_by_field_name("declaration_kind")) == "extension"
    said = [one for one in _modifiers(node) if one.startswith("@") and not ATTRIBUTES.fullmatch(BLANK.sub("", one))]
    is_bare = not is_extension and bases in ([], ["XCTestCase"]) and not said
    return is_bare and all(map(_is_quiet, named(node.child_by_field_name("body"))))


def _extends(node: Node, plain: frozenset[str]) -> bool:
    """Whether it is an extension of such a type, and asks for no protocol."""
    is_extension = text(node.child_by_field_name("declaration_kind")) == "extension"
    is_bare = not any(one.type == "inheritance_specifier" for one in named(node)) and not _modifiers(node)
    is_known = is_extension and is_bare and text(node.child_by_field_name("name")) in plain
    return is_known and all(map(_is_quiet, named(node.child_by_field_name("body"))))


def _is_quiet(member: Node) -> bool:
    """Whether a member of a type is none of its base, and no property but of a value that is written or made later."""
    modifiers, value = _modifiers(member), member.child_by_field_name("value")
    if "override" in modifiers:
        return False
    if member.type != "property_declaration":
        return member.type in MEMBERS
    if any(one.startswith("@") for one in modifiers):
        return False
    return value is None or is_written(value) or any(one in LATER for one in modifiers)


def _modifiers(node: Node) -> list[str]:
    return [text(one) for part in named(node) if part.type == "modifiers" for one in named(part)]


def _passes(function: Function, body: BodyFact) -> Passes | None:
    """Why a test passes whatever the code does; None if it may fail, or if nobody knows."""
    node = function.node
    modifiers = [one for one in _modifiers(node) if one not in OPEN and not AVAILABLE.fullmatch(BLANK.sub("", one))]
    is_test = function.name.startswith("test") and not modifiers and len(function.types) == 1
    is_marked = all(MARKS.fullmatch(BLANK.sub("", one)) for one in modifiers) and bool(modifiers)
    if not (is_test or is_marked) or any(child.type == "parameter" for child in named(node)):
        return None
    statements = [child for child in statements_of(function.body) if "comment" not in child.type]
    has_check = standing(body["checks"])
    return SwiftPassing(has_check).verdict(statements, has_check)
