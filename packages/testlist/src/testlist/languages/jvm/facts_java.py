"""Facts of one Java file: package, imports, classes with their annotations and methods."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.jvm.shape import (
    DEEPEST,
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
from testlist.languages.jvm.strip_java import stripped
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, parse, text

CLASSES: Final = {
    "class_declaration": "class",
    "record_declaration": "class",
    "enum_declaration": "enum",
    "interface_declaration": "interface",
    "annotation_type_declaration": "annotation",
}
ANNOTATIONS: Final = frozenset({"annotation", "marker_annotation"})
#: nodes between a body and its members
WRAPPERS: Final = frozenset({"enum_body_declarations", "ERROR"})


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"package", "imports": [[dotted, alias], ...], "classes", "methods"}."""
    root = parse(stripped(source), language)
    package, imports = "", []
    for node in root.named_children:
        if node.type == "package_declaration":
            package = text(node.named_children[-1])
        elif node.type == "import_declaration":
            imports += _import(node)
    return {"package": package, "imports": imports, **_members(root, 0)}


def _import(node: Node) -> list[Import]:
    """One import; a star is its own name.  Static ones may bring a nested class."""
    names = [child for child in node.named_children if child.type in ("scoped_identifier", "identifier")]
    star = any(child.type == "asterisk" for child in node.named_children)
    dotted = text(names[0]) if names else ""
    return [(dotted, "*" if star else dotted.rpartition(".")[2])] if dotted else []


def _members(body: Node | None, depth: int) -> Members:
    """Methods and classes of a body."""
    methods: list[MethodFact] = []
    classes: list[ClassFact] = []
    for node in _nodes(body):
        if node.type == "method_declaration":
            method = _method(node)
            if matters(method):
                methods.append(method)
        elif node.type in CLASSES and depth < DEEPEST:
            classes.append(_class(node, depth + 1))
    members: Members = {"methods": methods, "classes": classes}
    return compact(members)


def _nodes(body: Node | None) -> Iterator[Node]:
    for node in body.named_children if body is not None else []:
        if node.type in WRAPPERS:
            yield from node.named_children
        else:
            yield node


def _class(node: Node, depth: int) -> ClassFact:
    name = node.child_by_field_name("name") or node
    mods, marks = _modifiers(node)
    bases = list(_bases(node))
    found: ClassFact = {
        "k": CLASSES[node.type],
        "name": text(name) if name is not node else "",
        "line": line(name),
        "column": column(name),
        "end": end_line(node),
        "mods": mods if node.type == "class_declaration" else [*mods, "static"],  # all others are so by nature
        "marks": most(marks),
        "super": next((name for name, is_super in bases if is_super), ""),
        "bases": [name for name, _ in bases],
        **_members(node.child_by_field_name("body"), depth),
    }
    return compact(found)


def _bases(node: Node) -> Iterator[tuple[str, bool]]:
    """The superclass first, then interfaces; each with whether it is the superclass."""
    for child in node.named_children:
        if child.type == "superclass":
            yield from ((_type(one), True) for one in child.named_children)
        elif child.type in ("super_interfaces", "extends_interfaces"):
            for types in child.named_children:
                yield from ((_type(one), False) for one in types.named_children)


def _type(node: Node) -> str:
    """A type without its arguments."""
    if node.type == "generic_type" and node.named_children:
        node = node.named_children[0]
    return text(node) if node.type in ("type_identifier", "scoped_type_identifier") else ""


def _method(node: Node) -> MethodFact:
    name = node.child_by_field_name("name") or node
    mods, marks = _modifiers(node)
    kind = node.child_by_field_name("type")
    parameters = node.child_by_field_name("parameters")
    found: MethodFact = {
        "name": text(name),
        "line": line(name),
        "column": column(name),
        "end": end_line(node),
        "mods": mods if node.child_by_field_name("body") else [*mods, "abstract"],
        "marks": most(marks),
        "params": sum(child.type.endswith("parameter") for child in parameters.named_children) if parameters else 0,
        "value": kind is not None and kind.type != "void_type",
    }
    return compact(found)


def _modifiers(node: Node) -> tuple[list[str], list[Mark]]:
    """Modifiers and annotations of a declaration."""
    first = next((child for child in node.children if child.type == "modifiers"), None)
    mods: list[str] = []
    marks: list[Mark] = []
    for child in first.children if first is not None else []:
        if child.type in ANNOTATIONS:
            arguments = text(child.child_by_field_name("arguments"))
            marks.append(mark(text(child.child_by_field_name("name")), arguments))
        else:
            mods.append(child.type)
    return kept(mods), marks
