"""Attributes of a C# declaration, as (dotted name, switches): the named arguments that decide whether a test runs."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.csharp.shape import Attribute
from testlist.sandbox.syntax import named, text

#: named arguments that switch a test off, or say under which condition
SWITCHES: Final = frozenset({"Skip", "SkipWhen", "SkipUnless", "Ignore", "IgnoreReason", "Explicit"})
OFF: Final = frozenset({"null", "false", '""'})
#: attributes of parameters that make several cases of one method
SUPPLIERS: Final = frozenset({"Values", "ValueSource", "Range", "Random", "CombinatorialValues", "CombinatorialRange"})


def read(node: Node) -> Iterator[Attribute]:
    """Attributes of a type or a method; those of its return value are not its own."""
    for child in node.named_children:
        if child.type == "attribute_list":
            yield from _listed(child)
        elif child.type == "modifier":
            return


def _listed(attributes: Node) -> Iterator[Attribute]:
    for child in attributes.named_children:
        if child.type == "attribute_target_specifier" and not text(child).startswith("method"):
            return
        if child.type == "attribute" and (name := dotted(child.child_by_field_name("name"))):
            yield name, sorted(_switches(child))


def _switches(attribute: Node) -> Iterator[str]:
    arguments = next((child for child in attribute.named_children if child.type == "attribute_argument_list"), None)
    for argument in arguments.named_children if arguments is not None else ():
        name = argument.child_by_field_name("name")
        word = text(name) if name is not None else ""
        if word in SWITCHES and text(argument.named_children[-1]) not in OFF:
            yield word


def dotted(node: Node | None) -> str:
    """`A.B.C` of a name, without type arguments and without what stands before `::`."""
    words: list[str] = []
    while node is not None and node.type in ("qualified_name", "alias_qualified_name"):
        words.append(_plain(node.child_by_field_name("name")))
        node = node.child_by_field_name("qualifier")
    if node is not None and node.type in ("identifier", "generic_name"):
        words.append(_plain(node))
    return ".".join(reversed(list(filter(None, words))))


def _plain(node: Node | None) -> str:
    if node is not None and node.type == "generic_name":
        node = node.named_children[0]
    return text(node)


def supplied(parameters: Node | None) -> bool:
    """Whether attributes of parameters supply values."""
    return any(
        name.rpartition(".")[2].removesuffix("Attribute") in SUPPLIERS
        for parameter in named(parameters)
        if parameter.type == "parameter"
        for name, _ in read(parameter)
    )
