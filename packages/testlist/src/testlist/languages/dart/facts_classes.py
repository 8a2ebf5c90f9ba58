"""Classes of Dart whose methods may be tests, as test_reflective_loader finds them."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.languages.dart.shape import ClassFact, MethodFact
from testlist.languages.dart.vocabulary import MARKS, METHODS, REFLECTIVE
from testlist.sandbox.syntax import column, end_line, line, named, text

NAMES: Final = frozenset({"type_identifier", "identifier"})
#: of methods; one that does not say what it returns looks like a constructor
SIGNATURES: Final = frozenset({"function_signature", "constructor_signature"})
#: what stands around bases
AROUND: Final = frozenset({"superclass", "mixins", "mixin_application"})


def annotation_of(node: Node) -> str:
    """The name of an annotation, without its prefix."""
    return text(node.child_by_field_name("name")).rpartition(".")[2]


def class_of(node: Node, before: Sequence[Node]) -> Iterator[ClassFact]:
    """A class that has bases or methods which may be tests.  before: what stands in front of it."""
    marks = [annotation_of(one).lower() for one in (*before, *node.named_children) if one.type == "annotation"]
    name, *others = [text(child) for child in node.named_children if child.type in NAMES] or [""]
    bases = [*(others if node.type == "mixin_declaration" else ()), *_bases(node)]
    body = next((child for child in node.named_children if child.type == "class_body"), None)
    methods = list(_methods(body)) if body is not None else []
    if name and (bases or methods or REFLECTIVE in marks):
        fact: ClassFact = {"name": name, "bases": bases, "methods": methods}
        if REFLECTIVE in marks:
            fact["marked"] = True
        if status := next((MARKS[mark] for mark in marks if mark in MARKS), None):
            fact["status"] = status
        yield fact


def _bases(node: Node) -> Iterator[str]:
    """What a class extends and mixes in."""
    todo = [child for child in node.named_children if child.type in AROUND]
    while todo:
        for child in todo.pop(0).named_children:
            if child.type in NAMES:
                yield text(child)
            elif child.type in AROUND:
                todo.append(child)


def _methods(body: Node) -> Iterator[MethodFact]:
    """Methods that are called like tests and ask for nothing."""
    marks, head = list[str](), None
    for child in named(body):
        if child.type == "annotation":
            marks.append(annotation_of(child).lower())
        elif child.type == "method_signature":
            head = child
        else:
            if child.type == "function_body" and head is not None:
                yield from _method(head, child, marks)
            marks, head = [], None


def _method(head: Node, body: Node, marks: Sequence[str]) -> Iterator[MethodFact]:
    signature = next((child for child in head.named_children if child.type in SIGNATURES), None)
    name = text(signature.child_by_field_name("name")) if signature is not None else ""
    begins = next((one for one in METHODS if name == one or name.startswith((f"{one}_", one))), None)
    if signature is None or begins is None or text(head).startswith(("static", "external")):
        return
    parameters = next((one for one in signature.named_children if one.type == "formal_parameter_list"), None)
    if parameters is None or any(True for _ in named(parameters)):
        return
    place = signature.child_by_field_name("name") or signature
    fact: MethodFact = {"name": name, "line": line(place), "column": column(place), "end": end_line(body)}
    status = next((MARKS[mark] for mark in marks if mark in MARKS), METHODS[begins])
    if status is not None:
        fact["status"] = status
    yield fact
