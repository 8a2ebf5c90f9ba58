"""What a configuration written in JavaScript takes from other files, and what it gives to them."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript.facts_literals import string_of
from testlist.sandbox.syntax import named, text

#: a module, and the name of what is taken from it
Base = tuple[str, str]
#: stands for what a module exports as a whole
WHOLE: Final = "default"


def imported(root: Node) -> Iterator[tuple[str, str, str]]:
    """Names from modules, each with the module and its name there."""
    for node in named(root):
        module = string_of(node.child_by_field_name("source")) if node.type == "import_statement" else None
        for clause in named(node) if module else ():
            for child in named(clause):
                for name in named(child) if child.type == "named_imports" else [child]:
                    there = name.child_by_field_name("name")
                    own = name.child_by_field_name("alias") or there or name
                    yield text(own), module or "", text(there) or WHOLE


def handed_on(root: Node) -> Iterator[Base]:
    """`export {name as default} from "module"`."""
    for node in named(root):
        module = string_of(node.child_by_field_name("source")) if node.type == "export_statement" else None
        for there, name in _specified(node) if module else ():
            if name == WHOLE:
                yield module or "", text(there)


def given_out(node: Node) -> Iterator[Node]:
    """What a statement exports as the whole of the file."""
    if node.type == "export_statement":
        value = node.child_by_field_name("value")
        if value is not None:
            yield value
        elif node.child_by_field_name("source") is None:
            yield from (here for here, name in _specified(node) if name == WHOLE)
    elif node.type == "expression_statement":
        for child in named(node):
            if child.type == "assignment_expression" and text(child.child_by_field_name("left")) == "module.exports":
                right = child.child_by_field_name("right")
                yield from [right] if right is not None else []


def only_one(root: Node) -> Node | None:
    """What a file exports under a name, if it exports nothing else: others take their configuration from it."""
    found = [value for one in _declared(root) for _, value in assigned(one)]
    found += [one for one in _declared(root) if one.type == "function_declaration"]
    return found[0] if len(found) == 1 else None


def offered(root: Node, variables: dict[str, Node]) -> Iterator[tuple[str, Node]]:
    """Names that a file exports, with what each was given."""
    for one in _declared(root):
        yield from assigned(one)
    for node in named(root):
        if node.type == "export_statement" and node.child_by_field_name("source") is None:
            own = ((text(here), name) for here, name in _specified(node) if name != WHOLE)
            yield from ((name, variables[here]) for here, name in own if here in variables)


def assigned(node: Node) -> Iterator[tuple[str, Node]]:
    """Variables that a statement declares, exported or not, with what each is given."""
    declaration = node.child_by_field_name("declaration") if node.type == "export_statement" else node
    for child in named(declaration):
        value = child.child_by_field_name("value") if child.type == "variable_declarator" else None
        if value is not None:
            yield text(child.child_by_field_name("name")), value


def _declared(root: Node) -> Iterator[Node]:
    for node in named(root):
        declaration = node.child_by_field_name("declaration") if node.type == "export_statement" else None
        if declaration is not None:
            yield declaration


def _specified(node: Node) -> Iterator[tuple[Node, str]]:
    """Names in the braces of an export, and what each is called outside."""
    for clause in named(node):
        for one in named(clause) if clause.type == "export_clause" else ():
            here = one.child_by_field_name("name")
            if here is not None:
                yield here, text(one.child_by_field_name("alias") or here)
