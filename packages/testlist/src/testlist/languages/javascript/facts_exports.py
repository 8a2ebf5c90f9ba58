"""Names that a file hands on: tests of its own making, and what it re-exports of others."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript.facts_arguments import FUNCTIONS, members
from testlist.languages.javascript.facts_callee import Callee, resolve
from testlist.languages.javascript.facts_literals import string_of
from testlist.languages.javascript.facts_wrappers import valued
from testlist.languages.javascript.shape import Elsewhere, Exports, Handed
from testlist.sandbox.syntax import named, text

#: bytes of what is assigned to
LONGEST: Final = 100
COMMON: Final = re.compile(r"(?:module\.exports|exports(?=\.))(?:\.(?P<name>\w+))?")


def read(node: Node, aliases: Mapping[str, Callee], foreign: Mapping[str, tuple[str, str]]) -> Exports:
    """Read an export statement, with the names the file knows at its end."""
    if node.type == "assignment_expression":
        return _common(node, aliases, foreign)
    module = string_of(node.child_by_field_name("source"))
    found: dict[str, Handed | Elsewhere | str | None] = {}
    for child in named(node):
        if child.type == "export_clause":
            for name, shown in _specifiers(child):
                found[shown] = {"from": module, "name": name} if module else _known(name, aliases, foreign)
        elif child.type == "lexical_declaration":
            for one in named(child):
                name = text(one.child_by_field_name("name"))
                found[name] = _known(name, aliases, foreign)
        elif child.type == "function_declaration":
            name = text(child.child_by_field_name("name"))
            found[name] = found["default"] = _known(name, aliases, foreign)
    if (default := _default(node.child_by_field_name("value"), aliases, foreign)) is not None:
        found["default"] = default
    if module and not found and "*" in text(node)[:12]:
        found["*"] = module
    return {name: value for name, value in found.items() if value is not None}


def _default(
    value: Node | None, aliases: Mapping[str, Callee], foreign: Mapping[str, tuple[str, str]]
) -> Handed | Elsewhere | None:
    """What stands behind `export default`."""
    is_function = value is not None and value.type in FUNCTIONS
    callee = valued(value, aliases) if value is not None and is_function else resolve(value, aliases)
    if callee is not None and callee.root[0] == "@" and (origin := foreign.get(callee.root[1:])):
        return {"from": origin[0], "name": origin[1]}
    return handed(callee) if callee is not None else None


def _known(
    name: str, aliases: Mapping[str, Callee], foreign: Mapping[str, tuple[str, str]]
) -> Handed | Elsewhere | None:
    callee = aliases.get(name)
    origin = foreign.get(callee.root[1:] if callee and callee.root[0] == "@" else name)
    if origin is not None:
        return {"from": origin[0], "name": origin[1]}
    return handed(callee) if callee else None


def handed(callee: Callee) -> Handed:
    """A callee as it is stored."""
    return callee.root, [one for one in callee.modifiers if one != "extend"], callee.makes, callee.title or 0


def is_common(node: Node) -> bool:
    """Whether an assignment is one to `module.exports`, `exports.name` or `module.exports.name`."""
    left = node.child_by_field_name("left")
    short = left is not None and left.end_byte - left.start_byte < LONGEST
    return short and COMMON.fullmatch(text(left)) is not None


def _common(node: Node, aliases: Mapping[str, Callee], foreign: Mapping[str, tuple[str, str]]) -> Exports:
    """Read an assignment to the exports of a CommonJS module."""
    place, value = COMMON.fullmatch(text(node.child_by_field_name("left"))), node.child_by_field_name("right")
    if place is None or value is None:
        return {}
    found: dict[str, Handed | Elsewhere | str | None] = {}
    if value.type in FUNCTIONS:
        callee = valued(value, aliases)
        found[place["name"] or "default"] = handed(callee) if callee else None
    elif value.type == "identifier":
        found[place["name"] or "default"] = _known(text(value), aliases, foreign)
    elif value.type == "object" and not place["name"]:
        for key, inner in members(value):
            callee = valued(inner, aliases) if inner.type in FUNCTIONS else None
            found[key] = handed(callee) if callee else _known(text(inner), aliases, foreign)
    return {name: one for name, one in found.items() if one is not None}


def _specifiers(clause: Node) -> Iterator[tuple[str, str]]:
    for child in named(clause):
        name = text(child.child_by_field_name("name"))
        yield name, text(child.child_by_field_name("alias")) or name
