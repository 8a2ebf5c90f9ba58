"""Imports, requires and variables: which modules a file uses, and what known names are called in it."""

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from tasks.inventory.javascript.callee import KNOWN, NAMESPACE, Callee, resolve
from tasks.inventory.javascript.literals import string_of
from tasks.inventory.javascript.modules import RUNNERS
from tasks.inventory.syntax import named, text

Aliases = dict[str, Callee]


def read(node: Node, aliases: Mapping[str, Callee]) -> tuple[set[str], Aliases]:
    """Read an import statement or a variable declarator: (modules, aliases)."""
    return _import(node) if node.type == "import_statement" else _variable(node, aliases)


def _import(node: Node) -> tuple[set[str], Aliases]:
    module = string_of(node.child_by_field_name("source")) or ""
    if not module or any(child.type == "type" for child in node.children):
        return set(), {}
    clauses = [part for child in named(node) if child.type == "import_clause" for part in named(child)]
    found: Aliases = {}
    for part in clauses:
        if part.type == "namespace_import" and module in RUNNERS:
            found |= {text(child): Callee(NAMESPACE) for child in named(part)}
        elif part.type == "identifier" and module in RUNNERS:
            found[text(part)] = Callee("test")  # `import test from "node:test"`
        elif part.type == "named_imports":
            found |= dict(_specifiers(part))
    return {module}, found


def _specifiers(node: Node) -> Iterator[tuple[str, Callee]]:
    for child in named(node):
        name, alias = text(child.child_by_field_name("name")), text(child.child_by_field_name("alias"))
        if name in KNOWN and alias:
            yield alias, Callee(name)


def _variable(node: Node, aliases: Mapping[str, Callee]) -> tuple[set[str], Aliases]:
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if target is None or value is None:
        return set(), {}
    module = required(value)
    if target.type == "object_pattern":
        return {module} if module else set(), dict(_pattern(target))
    if module in RUNNERS and target.type == "identifier":
        return {module}, {text(target): Callee(NAMESPACE if module in ("vitest", "@jest/globals", "mocha") else "test")}
    callee = resolve(value, aliases) if target.type == "identifier" and not module else None
    if callee is None:
        return {module} if module else set(), {}
    # `test.extend(fixtures)` makes another `test`
    kept = tuple(modifier for modifier in callee.modifiers if modifier != "extend")
    return set(), {text(target): Callee(callee.root, kept)}


def _pattern(node: Node) -> Iterator[tuple[str, Callee]]:
    """`const {it: check} = ...`; a known name under its own name needs no alias."""
    for child in named(node):
        if child.type == "pair_pattern":
            name, alias = text(child.child_by_field_name("key")), text(child.child_by_field_name("value"))
            if name in KNOWN and alias.isidentifier():
                yield alias, Callee(name)


def required(node: Node) -> str | None:
    """Module of `require("module")`."""
    if node.type != "call_expression" or text(node.child_by_field_name("function")) != "require":
        return None
    return string_of(next(named(node.child_by_field_name("arguments")), None))
