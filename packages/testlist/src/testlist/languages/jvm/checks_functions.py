"""The functions of a file in Java or Kotlin, wherever they stand, and the tests of specifications by their titles."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.jvm.checks_calls import LAMBDAS, STRINGS, parts, plain
from testlist.languages.jvm.facts_calls import title
from testlist.languages.jvm.facts_kotlin import FUN_INTERFACE
from testlist.languages.jvm.strip_unparsed import Blank
from testlist.sandbox.syntax import parse, text

METHODS: Final = frozenset({"method_declaration", "function_declaration"})
CLASSES: Final = frozenset(
    {"class_declaration", "record_declaration", "enum_declaration", "interface_declaration", "object_declaration",
     "companion_object", "annotation_type_declaration"}
)  # fmt: skip
PARAMETERS: Final = frozenset({"formal_parameters", "function_value_parameters"})
#: parameters that take one argument each
PLAIN: Final = frozenset({"formal_parameter", "parameter"})
CLASS_BODIES: Final = frozenset({"class_body", "enum_class_body"})
BODIES: Final = frozenset({"block", "function_body"})
#: what a companion without a name is called
COMPANION: Final = "Companion"
#: deeper trees are given up
DEEPEST: Final = 250
#: functions whose bodies are parsed apart, of one file
MOST_APART: Final = 500


@dataclass(frozen=True, slots=True)
class Function:
    """One function.  head: where it begins for a listing; body: None if it has none; classes: those around it.

    is_broken: the grammar cannot read all of it; is_certain: it can read the file around it, with all annotations.
    """

    name: str
    head: Node
    node: Node
    body: Node | None
    classes: tuple[Node, ...]
    is_broken: bool
    is_certain: bool = True

    @property
    def is_method(self) -> bool:
        """Whether it has a name of its own, and is no test by its title."""
        return self.node.type in METHODS

    @property
    def last(self) -> str:
        """Its name without those around it."""
        return self.name.rpartition(".")[2]

    @property
    def parameters(self) -> Node | None:
        """The list of what it takes."""
        return next((one for one in self.node.named_children if one.type in PARAMETERS), None)

    @property
    def count(self) -> int:
        """How many arguments it takes; 0 if that is not known, or if an annotation may make it a test."""
        given = self.parameters
        taken = parts(given)
        is_open = any(child.type == "=" for child in given.children) if given is not None else True
        is_open = is_open or not {one.type for one in taken} <= PLAIN
        is_marked = any(child.type == "modifiers" and b"@" in (child.text or b"") for child in self.node.named_children)
        return 0 if is_open or is_marked else len(taken)

    @property
    def numbered(self) -> str:
        """Its name with that number."""
        return f"{self.last}({self.count})"

    @property
    def is_extension(self) -> bool:
        """Whether it extends a type, which stands before its name."""
        return any(one.type == "user_type" and one.start_byte < self.head.start_byte for one in parts(self.node))


class Names(NamedTuple):
    """Names of the functions of one file, without their classes.

    overloaded: those that a class has several of; numbered: of these, functions that are no tests and that the number
    of their parameters tells apart, as `name(2)`; extensions: those that extend a type.
    """

    own: frozenset[str]
    overloaded: frozenset[str]
    numbered: frozenset[str]
    extensions: frozenset[str]


def names_of(found: Sequence[Function]) -> Names:
    """The names of functions."""
    methods = [one for one in found if one.is_method]
    counted, numbers = Counter(one.name for one in methods), Counter((one.name, one.count) for one in methods)
    return Names(
        frozenset(one.last for one in methods),
        frozenset(one.last for one in methods if counted[one.name] > 1),
        frozenset(
            one.numbered for one in methods if one.count and counted[one.name] > 1 and numbers[one.name, one.count] == 1
        ),
        frozenset(one.last for one in methods if one.is_extension),
    )


def functions(source: bytes, syntax: str) -> Iterator[Function]:
    """All functions of a file, and calls with a title and a lambda if it may hold specifications."""
    if syntax != "kotlin":
        yield from _inside(parse(source, syntax), (), 0, specifies=False)
        return
    readable = FUN_INTERFACE.sub(rb"\1   ", source) if b"fun interface" in source else source
    readable += b"\n"  # a last line without end confuses the grammar
    root = parse(readable, syntax)
    found = list(_inside(root, (), 0, specifies=b"otest" in source or b"Spec" in source))
    is_misread = root.has_error or _is_misread(root, 0)
    yield from (replace(one, is_certain=False) for one in found) if is_misread else found
    if is_misread:
        known = {one.head.start_byte for one in found}
        yield from (one for one in _apart(readable, syntax) if one.head.start_byte not in known)


def _is_misread(node: Node, depth: int) -> bool:
    """Whether an expression stands where only declarations can."""
    return depth < DEEPEST and any(
        child.type.endswith("_expression")
        or (child.type in (*CLASSES, *CLASS_BODIES) and _is_misread(child, depth + 1))
        for child in parts(node)
    )


def _apart(source: bytes, syntax: str) -> Iterator[Function]:
    """Functions of a file that the grammar cannot read: declarations without bodies, and then each body by itself."""
    declared = _inside(parse(Blank(source).text(), syntax), (), 0, specifies=False)
    for one in islice(declared, MOST_APART):
        if one.body is not None:
            inner = source[one.body.start_byte : one.body.end_byte]
            alone = parse(b"\n" * one.body.start_point.row + b"fun a() " + inner, syntax)
            again = next(_inside(alone, (), 0, specifies=False), None)
            body = again.body if again is not None else None
            yield replace(one, body=body, is_broken=body is None or alone.has_error, is_certain=False)


def _inside(node: Node, classes: tuple[Node, ...], depth: int, *, specifies: bool) -> Iterator[Function]:
    for child in parts(node) if depth < DEEPEST else ():
        if child.type in METHODS:
            yield _method(child, classes)
        elif specifies and child.type == "call_expression" and (found := titled(child)) is not None:
            yield Function(found[0], child, child, found[1], classes, child.has_error)
        if child.type not in METHODS or specifies:
            inner = (*classes, child) if child.type in CLASSES else classes
            yield from _inside(child, inner, depth + 1, specifies=specifies)


def _method(node: Node, classes: tuple[Node, ...]) -> Function:
    head = node.child_by_field_name("name") or node
    body = next((child for child in node.named_children if child.type in BODIES), None)
    around = (plain(one.child_by_field_name("name")) or COMPANION for one in classes)
    return Function(".".join((*around, plain(head))), head, node, body, classes, node.has_error)


def titled(node: Node) -> tuple[str, Node] | None:
    """The title and the lambda of `test("title") { }`, `"title" { }`, `test("title").config() { }`; None for others."""
    callee, *rest = parts(node) or [node]
    given = [one for group in rest if group.type == "value_arguments" for one in parts(group)]
    block = next((one for one in rest if one.type in LAMBDAS), None) or _last_lambda(given)
    if block is None:
        return None
    if not given and callee.type == "call_expression":
        callee, *rest = parts(callee) or [callee]
    if callee.type == "navigation_expression" and plain((parts(callee) or [callee])[-1]) == "config":
        callee, *rest = parts(callee)
        if callee.type == "call_expression":
            callee, *rest = parts(callee) or [callee]
    if callee.type in STRINGS:
        return title(callee), block
    if (word := text(callee)).startswith("with"):
        return word, block
    heading = next((one for group in rest if group.type == "value_arguments" for one in parts(group)), None)
    value = parts(heading)[-1] if heading is not None and parts(heading) else None
    return (title(value), block) if value is not None and value.type not in LAMBDAS else None


def _last_lambda(given: list[Node]) -> Node | None:
    inner = parts(given[-1]) if given else []
    return inner[0] if len(inner) == 1 and inner[0].type in LAMBDAS else None
