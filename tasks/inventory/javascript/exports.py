"""Names that a file hands on: tests of its own making, and what it re-exports of others."""

from collections.abc import Iterator, Mapping
from typing import Any

from tree_sitter import Node

from tasks.inventory.javascript.callee import Callee, resolve
from tasks.inventory.javascript.literals import string_of
from tasks.inventory.syntax import named, text

#: {"name": [root, modifiers]} for what is known here, {"name": {"from": module, "name": name}} for the rest;
#: the name `*` lists modules that are handed on as a whole
Exports = dict[str, Any]


def read(node: Node, aliases: Mapping[str, Callee], foreign: Mapping[str, tuple[str, str]]) -> Exports:
    """Read an export statement, with the names the file knows at its end."""
    module = string_of(node.child_by_field_name("source"))
    found: Exports = {}
    for child in named(node):
        if child.type == "export_clause":
            for name, shown in _specifiers(child):
                found[shown] = {"from": module, "name": name} if module else _known(name, aliases, foreign)
        elif child.type == "lexical_declaration":
            for one in named(child):
                name = text(one.child_by_field_name("name"))
                found[name] = _known(name, aliases, foreign)
    value = node.child_by_field_name("value")
    callee = resolve(value, aliases)
    if callee is not None and callee.root[0] == "@" and (origin := foreign.get(callee.root[1:])):
        found["default"] = {"from": origin[0], "name": origin[1]}
    elif callee is not None:
        found["default"] = [callee.root, [one for one in callee.modifiers if one != "extend"]]
    if module and not found and "*" in text(node)[:12]:
        found["*"] = module
    return {name: value for name, value in found.items() if value is not None}


def _known(name: str, aliases: Mapping[str, Callee], foreign: Mapping[str, tuple[str, str]]) -> Any:
    callee = aliases.get(name)
    origin = foreign.get(callee.root[1:] if callee and callee.root[0] == "@" else name)
    if origin is not None:
        return {"from": origin[0], "name": origin[1]}
    return [callee.root, list(callee.modifiers)] if callee else None


def _specifiers(clause: Node) -> Iterator[tuple[str, str]]:
    for child in named(clause):
        name = text(child.child_by_field_name("name"))
        yield name, text(child.child_by_field_name("alias")) or name
