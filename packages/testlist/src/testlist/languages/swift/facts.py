"""Facts of one Swift file: its types with what they inherit, and functions that may be tests.

A function that bears `@Test` carries `marked`; of the others only those named `test...` are kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.swift.facts_attributes import marks_of
from testlist.languages.swift.facts_branches import live
from testlist.languages.swift.shape import FunctionFact, Marks, TypeFact
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, named, parse, text

MARKER: Final = re.compile(rb"func\s++`?+test|Test")
FIRST: Final = re.compile(
    r"\s*+(?:try\s++)?(?:throw\s++)?(XCTSkip|XCTSkipIf|XCTSkipUnless|XCTExpectFailure)\s*+\(\s*+(\w*+)"
)
SKIPS: Final = {("XCTSkipIf", "true"), ("XCTSkipUnless", "false")}
CONDITIONS: Final = frozenset({"XCTSkipIf", "XCTSkipUnless"})
NOTHING: Final = frozenset({"Void", "()", "Swift.Void"})
#: keywords of declarations, and the kinds of node their names may be
LOOSE: Final = frozenset({"func", "class", "struct", "enum", "actor", "extension"})
NAMES: Final = frozenset({"simple_identifier", "type_identifier", "user_type"})
DEEPEST: Final = 40  # types within types


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"types": [...], "functions": [...]}."""
    if not MARKER.search(source):
        return {}
    found = _Found()
    found.walk(parse(source, language))
    return {key: value for key, value in (("types", found.types), ("functions", found.functions)) if value}


class Place(NamedTuple):
    """Where declarations are looked for.  outer: types around, each with its column.

    recovered: inside a function whose body the grammar could not read; only what is indented no further than this
    column stands beside the function and not inside of it.  when: under a condition of the compiler.
    """

    node: Node
    outer: tuple[tuple[str, int], ...] = ()
    recovered: int | None = None
    when: bool = False

    def holds(self, child: Node) -> bool:
        """Whether a declaration belongs here."""
        return self.recovered is None or column(child) <= self.recovered

    def around(self, child: Node) -> tuple[tuple[str, int], ...]:
        """Types around a declaration."""
        if self.recovered is None:
            return self.outer
        return tuple(pair for pair in self.outer if pair[1] < column(child))


@dataclass(slots=True)
class _Found:
    """What one file declares."""

    types: list[TypeFact] = field(default_factory=list)
    functions: list[FunctionFact] = field(default_factory=list)
    seen: dict[tuple[object, ...], FunctionFact] = field(default_factory=dict)

    def walk(self, root: Node) -> None:
        """Go through declarations, outermost first; bodies of functions hold none that count."""
        todo = [Place(root)]
        while todo:
            place = todo.pop()
            if place.node.type == "ERROR":
                inner = list(self.mended(place))
            else:
                inner = [
                    further
                    for child, when in live(place.node)
                    for further in self.declaration(child, place._replace(when=place.when or when))
                ]
            todo += reversed(inner)

    def mended(self, place: Place) -> Iterator[Place]:
        """Go through what the grammar gave up on: heads of declarations lie loose in it, scopes show by indentation."""
        outer, modifiers = place.outer, None
        for child, name in pairwise([*place.node.children, place.node]):
            if child.is_named and child.type != "modifiers":
                around = tuple(one for one in outer if one[1] < column(child)) if outer != place.outer else outer
                yield from self.declaration(child, place._replace(outer=around))
            elif child.type in LOOSE and name.type in NAMES:
                head = modifiers or child
                around = tuple(one for one in outer if one[1] < column(head))
                if child.type == "func":
                    self.loose(name, modifiers, around)
                elif len(around) < DEEPEST:
                    self.loose_type(child, name, tuple(one for one, _ in around))
                    outer = (*around, (text(name), column(head)))
            modifiers = child if child.type == "modifiers" else None

    def loose(self, name: Node, modifiers: Node | None, outer: tuple[tuple[str, int], ...]) -> None:
        """Keep a function of which only the head was read."""
        marks = marks_of(modifiers, "Test") if modifiers is not None else None
        opened = name.next_sibling
        bare = opened is not None and opened.next_sibling is not None and opened.next_sibling.type == ")"
        if marks is not None or (bare and text(name).startswith("test")):
            kept: FunctionFact = {
                "name": text(name).strip("`"),
                "outer": [one for one, _ in outer],
                "line": line(name),
                "column": column(modifiers or name),
                "end": line(name),
            }
            if marks is not None:
                _mark(kept, marks)
            self.functions.append(kept)

    def loose_type(self, keyword: Node, name: Node, outer: tuple[str, ...]) -> None:
        """Keep a type of which only the head was read."""
        bases, part = [], name.next_sibling
        while part is not None and part.type in (":", ",", "inheritance_specifier"):
            bases += _words(part.child_by_field_name("inherits_from"))[-1:]
            part = part.next_sibling
        if bases:
            self.types.append({"name": [*outer, text(name)], "bases": bases, "kind": keyword.type})

    def declaration(self, child: Node, place: Place) -> Iterator[Place]:
        """Keep one declaration; yields where more may stand."""
        if child.type == "class_declaration" and place.holds(child):
            outer = place.around(child)
            name = self.type(child, tuple(one for one, _ in outer))
            body = child.child_by_field_name("body")
            if body is not None and len(name) < DEEPEST:
                within = (*outer, *((one, column(child)) for one in name[len(outer) :]))
                yield Place(body, within, when=place.when)
        elif child.type == "function_declaration" and place.holds(child):
            self.function(child, tuple(one for one, _ in place.around(child)), when=place.when)
            if child.has_error:
                yield place._replace(node=child, recovered=column(child))
        elif child.has_error:
            yield place._replace(node=child)

    def type(self, node: Node, outer: tuple[str, ...]) -> tuple[str, ...]:
        """Keep a type or an extension; returns its full name."""
        name = (*outer, *_words(node.child_by_field_name("name")))
        bases = [
            words[-1]
            for child in named(node)
            if child.type == "inheritance_specifier" and (words := _words(child.child_by_field_name("inherits_from")))
        ]
        marks = marks_of(node, "Suite")
        kind = text(node.child_by_field_name("declaration_kind"))
        fact: TypeFact = {"name": list(name), "bases": bases, "kind": kind}
        if marks is not None and "status" in marks:
            fact["status"] = marks["status"]
        if marks is not None and "when" in marks:
            fact["when"] = marks["when"]
        if bases or "status" in fact or "when" in fact:
            self.types.append(fact)
        return name

    def function(self, node: Node, outer: tuple[str, ...], *, when: bool) -> None:
        """Keep a function that may be a test."""
        name = node.child_by_field_name("name")
        marks = marks_of(node, "Test")
        if name is None or (marks is None and not text(name).startswith(("test", "`test"))):
            return
        parameters = [text(child) for child in named(node) if child.type == "parameter"]
        key = (outer, text(name), *parameters)
        if key in self.seen:  # on another branch of a conditional
            self.seen[key].pop("when", None)
            return
        fact: FunctionFact = {
            "name": text(name).strip("`"),
            "outer": list(outer),
            "line": line(name),
            "column": column(node),
            "end": end_line(node),
        }
        if when:
            fact["when"] = True
        self.seen[key] = fact
        if marks is not None:
            _mark(fact, marks)
        elif parameters or not _runs(node):
            return
        body = node.child_by_field_name("body")
        if "status" not in fact and (status := _first(body)):
            fact["status"] = status
        elif (found := _opening(body)) is not None and found[1] in CONDITIONS:
            fact["when"] = True
        self.functions.append(fact)


def _mark(fact: FunctionFact, marks: Marks) -> None:
    """Keep that a function bears `@Test`, and what that says."""
    fact["marked"] = True
    if "status" in marks:
        fact["status"] = marks["status"]
    if "when" in marks:
        fact["when"] = marks["when"]
    if "dynamic" in marks:
        fact["dynamic"] = marks["dynamic"]
    if "cases" in marks:
        fact["cases"] = marks["cases"]


def _words(node: Node | None) -> list[str]:
    """`A.B<C>` as its names."""
    if node is not None and node.type in ("user_type", "type_identifier", "identifier"):
        return [word.strip("` ") for word in re.sub(r"<.*", "", text(node), flags=re.DOTALL).split(".")]
    return []


def _runs(node: Node) -> bool:
    """Whether XCTest could call a method: an instance method that others may see and that returns nothing."""
    modifiers = {text(child) for part in named(node) if part.type == "modifiers" for child in named(part)}
    if modifiers & {"static", "class", "private", "fileprivate"}:
        return False
    result = next((after for sign, after in pairwise(node.children) if sign.type == "->"), None)
    return result is None or text(result) in NOTHING


def _opening(body: Node | None) -> re.Match[str] | None:
    """The first statement, if it decides on the status."""
    first = next(named(next(named(body), None)), None)
    return FIRST.match(text(first)) if first is not None else None


def _first(body: Node | None) -> str | None:
    """The status that the first statement gives."""
    found = _opening(body)
    if found is None:
        return None
    if found[1] == "XCTExpectFailure":
        return None if "{" in found.string else "xfail"
    return "skipped" if found[1] == "XCTSkip" or (found[1], found[2]) in SKIPS else None
