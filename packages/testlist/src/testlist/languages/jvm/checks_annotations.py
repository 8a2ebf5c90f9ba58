"""What the annotations of a method say: the exception that it has to throw, and names that harm no verdict."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import made, said
from testlist.languages.jvm.checks_calls import literal, parts
from testlist.sandbox.syntax import line, text

#: arguments of Test that name what has to be thrown, and the one that names its message
EXPECTED: Final = frozenset({"expected", "expectedExceptions"})
MESSAGE: Final = "expectedExceptionsMessageRegExp"
ANNOTATIONS: Final = frozenset({"annotation", "marker_annotation"})


def annotations(node: Node) -> Iterator[tuple[str, dict[str, Node]]]:
    """The annotations of a declaration: the last part of each name, and its arguments that have names."""
    modifiers = next((child for child in node.named_children if child.type == "modifiers"), None)
    for one in parts(modifiers):
        if one.type in ANNOTATIONS:
            inner = _inner(one)
            name = inner.child_by_field_name("name") or next(iter(parts(inner)), inner)
            yield text(name).rpartition(".")[2], dict(_arguments(inner))


def _inner(annotation: Node) -> Node:
    """What holds the name: in Kotlin a call of a constructor."""
    held = (one for one in parts(annotation) if one.type in ("constructor_invocation", "user_type"))
    return next(held, annotation) if annotation.child_by_field_name("name") is None else annotation


def _arguments(inner: Node) -> Iterator[tuple[str, Node]]:
    for group in parts(inner):
        if group.type in ("annotation_argument_list", "value_arguments"):
            for pair in parts(group):
                if len(both := parts(pair)) == 2:
                    yield text(both[0]), both[1]


def expected_errors(node: Node) -> Iterator[CheckFact]:
    """`@Test(expected = T.class)`, also TestNG's."""
    for name, given in annotations(node):
        kinds = [value for label, value in given.items() if label in EXPECTED] if name == "Test" else []
        for kind in kinds:
            check = made(line(kind), "raises", None, kind, literal=literal)
            if MESSAGE in given:
                check["message"] = said(given[MESSAGE])
            yield check
