"""Facts of one Kotlin file: package, imports, classes, functions, and the calls that build specifications."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypedDict

from tree_sitter import Node

from testlist.kit.strip import void
from testlist.languages.jvm import facts_header
from testlist.languages.jvm.facts_calls import entries, prepared
from testlist.languages.jvm.shape import (
    DEEPEST,
    CallFact,
    ClassFact,
    Import,
    Mark,
    Members,
    MethodFact,
    compact,
    kept,
    mark,
    matters,
    most,
)
from testlist.languages.jvm.strip_kotlin import stripped
from testlist.languages.jvm.strip_unparsed import Blank, Marks
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, parse, text

CLASSES: Final = frozenset({"class_declaration", "object_declaration", "companion_object"})
BODIES: Final = frozenset({"class_body", "enum_class_body"})

#: the grammar does not know `fun interface`
FUN_INTERFACE: Final = re.compile(rb"(?m)^([ \t]*(?:[a-z]{1,9} ){0,3})fun(?= interface )")


class Bases(TypedDict):
    """All bases, and which of them is the superclass."""

    super: str
    bases: list[str]


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"package", "imports": [[dotted, alias], ...], "classes", "methods", "calls"}."""
    readable = FUN_INTERFACE.sub(rb"\1   ", source) if b"fun interface" in source else source
    readable += b"\n"  # a last line without end confuses the grammar
    specifies = b"otest" in source or b"Spec" in source
    head = facts_header.read(readable)
    readable = void(readable[: head.end]) + readable[head.end :]
    root, reader = parse(stripped(readable, specifies=specifies), language), _Reader({}, specifies=specifies)
    found = reader.members(root.named_children, 0) if not root.has_error else {}
    if root.has_error or reader.misread:
        blank = Blank(readable)
        readable = blank.text()
        root, reader = parse(readable, language), _Reader(blank.marks(readable), specifies=specifies)
        found = reader.members(root.named_children, 0)
    package, imports = _head(root)
    return {"package": package or head.package, "imports": head.imports + imports, **found}


def _head(root: Node) -> tuple[str, list[Import]]:
    """Package and imports that do not stand in front of everything else."""
    package = ""
    imports: list[Import] = []
    for node in root.named_children:
        if node.type == "package_header":
            package = dotted(node)
        elif node.type == "import":
            imports.append(_import(node))
        elif node.type in CLASSES:
            break
    return package, imports


class _Reader:
    """One tree.

    lost: annotations that were taken out of its text.  specifies: it may hold specifications.  misread: an expression
    stands where only declarations can.
    """

    def __init__(self, lost: Marks, *, specifies: bool) -> None:
        self.lost = lost
        self.specifies = specifies
        self.misread = False

    def members(self, nodes: Iterable[Node], depth: int) -> Members:
        """What a body declares.  calls: those that may build tests."""
        methods: list[MethodFact] = []
        classes: list[ClassFact] = []
        calls: list[CallFact] = []
        for node in nodes:
            kind = node.type
            if kind == "function_declaration":
                methods += filter(matters, [self._method(node)])
            elif kind in CLASSES and depth < DEEPEST:
                classes.append(self._class(node, depth + 1))
            elif kind in ("anonymous_initializer", "property_declaration"):
                calls += self._calls(node)
            elif kind == "ERROR":
                broken = self._broken(node, depth)
                methods += broken.get("methods", [])
                classes += broken.get("classes", [])
                calls += broken.get("calls", [])
            elif kind.endswith("_expression"):
                self.misread = True
        found: Members = {"methods": methods, "classes": classes, "calls": calls}
        return compact(found)

    def _broken(self, node: Node, depth: int) -> Members:
        """The facts of a class whose body the grammar could not read to its end, as far as they are known."""
        name = next((child for child in node.children if child.type == "identifier"), None)
        inner = self.members([child for child in node.named_children if child.type != "ERROR"], depth + 1)
        if name is None or not any(child.type == "class" for child in node.children):
            return inner
        mods, marks = self._modifiers(node, _first(node, "modifiers"))
        found: ClassFact = {
            "k": "class",
            "name": plain(name),
            "line": line(name),
            "column": column(name),
            "end": end_line(node),
            "mods": mods,
            "marks": most(marks),
            **_bases(node),
            **inner,
            "calls": [*_constructor(node), *inner.get("calls", [])],
        }
        return {"classes": [compact(found)]}

    def _class(self, node: Node, depth: int) -> ClassFact:
        name = node.child_by_field_name("name")
        body = next((child for child in node.named_children if child.type in BODIES), None)
        mods, marks = self._modifiers(node, _first(node, "modifiers"))
        inner = self.members(body.named_children if body is not None else [], depth)
        place = name or node
        found: ClassFact = {
            "k": _kind(node, mods),
            "name": plain(name) or ("Companion" if node.type == "companion_object" else ""),
            "line": line(place),
            "column": column(place),
            "end": end_line(node),
            "mods": mods,
            "marks": most(marks),
            **_bases(node),
            **inner,
            "calls": [*_constructor(node), *inner.get("calls", [])],
        }
        return compact(found)

    def _method(self, node: Node) -> MethodFact:
        parts = {child.type: child for child in reversed(node.children)}  # of several types the first is the receiver's
        name, body = node.child_by_field_name("name") or node, parts.get("function_body")
        mods, marks = self._modifiers(node, parts.get("modifiers"))
        parameters, receiver = parts.get("function_value_parameters"), parts.get("user_type")
        found: MethodFact = {
            "name": plain(name),
            "line": line(name),
            "column": column(name),
            "end": end_line(node),
            "mods": mods if body is not None else [*mods, "abstract"],
            "marks": most(marks),
            "params": sum(child.type == "parameter" for child in parameters.named_children) if parameters else 0,
            "receiver": dotted(receiver) if receiver and receiver.start_byte < name.start_byte else "",
            "calls": self._calls(body),
        }
        return compact(found)

    def _calls(self, node: Node | None) -> list[CallFact]:
        """Entries of a block; of a property only factories of specifications."""
        read = prepared if node is not None and node.type == "property_declaration" else entries
        statements = node.named_children if node is not None and self.specifies else []
        return [entry for statement in statements for entry in read(statement)]

    def _modifiers(self, node: Node, modifiers: Node | None) -> tuple[list[str], list[Mark]]:
        mods: list[str] = []
        marks = list(self.lost.get(node.start_byte, ()))
        for child in modifiers.named_children if modifiers is not None else []:
            if child.type == "annotation":
                marks += _annotation(child)
            else:
                mods.append(text(child))
        return kept(mods), marks


def _import(node: Node) -> Import:
    path = dotted(node)
    if any(child.type == "*" for child in node.children):
        return path, "*"
    alias = [text(child) for child in node.named_children if child.type == "identifier"]
    return path, alias[0] if alias else path.rpartition(".")[2]


def dotted(node: Node) -> str:
    """The qualified name a node holds, without type arguments."""
    inner = next((child for child in node.named_children if child.type in ("qualified_identifier", "user_type")), node)
    return ".".join(plain(child) for child in inner.named_children if child.type == "identifier")


def plain(node: Node | None) -> str:
    """A name without its backticks."""
    return text(node).strip("`")


def _first(node: Node, kind: str) -> Node | None:
    return next((child for child in node.named_children if child.type == kind), None)


def _kind(node: Node, mods: list[str]) -> str:
    if node.type != "class_declaration":
        return "object" if node.type == "object_declaration" else "companion"
    if any(child.type == "interface" for child in node.children):
        return "interface"
    return next((word for word in ("enum", "annotation") if word in mods), "class")


def _bases(node: Node) -> Bases:
    """All bases, and which is the superclass: the one that is constructed, if the class has no other constructor."""
    found = [specifier.named_children[0] for specifier in _specifiers(node) if specifier.named_children]
    bases = [(dotted(inner), inner.type) for inner in found]
    parents = [name for name, kind in bases if kind == "constructor_invocation"] or [name for name, _ in bases]
    return {"super": parents[0] if parents else "", "bases": [name for name, _ in bases]}


def _specifiers(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "delegation_specifiers":
            yield from (one for one in child.named_children if one.type == "delegation_specifier")


def _constructor(node: Node) -> Iterator[CallFact]:
    """Calls in a lambda that is given to the constructor of a base."""
    for specifier in _specifiers(node):
        for call in specifier.named_children:
            for arguments in call.named_children if call.type == "constructor_invocation" else []:
                for argument in arguments.named_children if arguments.type == "value_arguments" else []:
                    for value in argument.named_children:
                        if value.type in ("lambda_literal", "annotated_lambda"):
                            yield from entries(value)


def _annotation(node: Node) -> Iterator[Mark]:
    """`@A`, `@A(b)` or `@[A B(c)]`; those of a property's getter and the like are left out."""
    if any(child.type == "use_site_target" for child in node.named_children):
        return
    for child in node.named_children:
        if child.type == "user_type":
            yield mark(dotted(child), "")
        elif child.type == "constructor_invocation":
            arguments = next((one for one in child.named_children if one.type == "value_arguments"), None)
            yield mark(dotted(child), text(arguments))
