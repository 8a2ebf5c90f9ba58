"""Imports, requires and variables: which modules a file uses, and what known names are called in it."""

from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript.facts_callee import TRANSPARENT, WHOLE, Callee, resolve
from testlist.languages.javascript.facts_literals import required, string_of
from testlist.languages.javascript.vocabulary import KNOWN, MADE
from testlist.languages.javascript.vocabulary_modules import BDD, CASES, EXTENDED, RUNNERS, TABLES, is_own
from testlist.sandbox.syntax import named, text

Aliases = dict[str, Callee]
#: members whose call gives something to call, and registers nothing yet
GIVING: Final = frozenset({"extend", "each", "for", "if", "skipIf", "runIf", "todoIf", MADE})


def read(node: Node, aliases: Mapping[str, Callee]) -> tuple[set[str], Aliases]:
    """Read an import statement or a variable declarator: (modules, aliases)."""
    return _import(node) if node.type == "import_statement" else _variable(node, aliases)


def _import(node: Node) -> tuple[set[str], Aliases]:
    module = string_of(node.child_by_field_name("source")) or ""
    if not module or any(child.type == "type" for child in node.children):
        return set(), {}
    found: Aliases = {}
    for part in (part for child in named(node) if child.type == "import_clause" for part in named(child)):
        if part.type == "named_imports":
            found |= dict(_specifiers(part))
        elif (whole := _whole(module)) is not None:
            names = [part] if part.type == "identifier" else list(named(part))
            found |= {text(name): whole for name in names}
    return {canonical(module)}, found


def foreign(node: Node) -> Iterator[tuple[str, tuple[str, str]]]:
    """Names that an import or a require takes from files of the repository: (name here, (module, name there))."""
    if node.type == "variable_declarator":
        yield from _required(node)
        return
    module = string_of(node.child_by_field_name("source")) or ""
    for part in (part for child in named(node) if child.type == "import_clause" for part in named(child)):
        if not is_own(module):
            return
        if part.type == "identifier":
            yield text(part), (module, "default")
        for child in named(part) if part.type == "named_imports" else ():
            name = text(child.child_by_field_name("name"))
            yield text(child.child_by_field_name("alias")) or name, (module, name)


def _required(node: Node) -> Iterator[tuple[str, tuple[str, str]]]:
    """`const {a, b: c} = require("./d")` and `const e = require("./d")`."""
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    module = required(value) if value is not None else None
    if target is None or module is None or not is_own(module):
        return
    if target.type == "identifier":
        yield text(target), (module, "default")
    for child in named(target) if target.type == "object_pattern" else ():
        if child.type == "shorthand_property_identifier_pattern":
            yield text(child), (module, text(child))
        elif child.type == "pair_pattern":
            yield text(child.child_by_field_name("value")), (module, text(child.child_by_field_name("key")))


def canonical(module: str) -> str:
    """One name for what has many: Deno's describe and it come from a registry, a URL or an import map.

    A package that is called like a runner, in a scope of its own, hands on what it adds to.
    """
    if module.endswith((BDD, f"{BDD}.ts")):
        return BDD
    scope, _, name = module.partition("/")
    return EXTENDED.get(name, module) if scope[:1] == "@" else module


def _whole(module: str | None) -> Callee | None:
    """What a module as a whole, or its default export, stands for."""
    if module in CASES:
        return Callee("test", ("each",))
    if module in TABLES:
        return Callee("test", ("each",), whole=True)
    return WHOLE if module in RUNNERS else None


def _specifiers(node: Node) -> Iterator[tuple[str, Callee]]:
    for child in named(node):
        name, alias = text(child.child_by_field_name("name")), text(child.child_by_field_name("alias"))
        if name in KNOWN and alias:
            yield alias, Callee(name)


def _variable(node: Node, aliases: Mapping[str, Callee]) -> tuple[set[str], Aliases]:
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    while value is not None and value.type in TRANSPARENT:
        value = next(named(value), None)
    if target is None or value is None:
        return set(), {}
    module = required(value)
    modules = {module} if module else set()
    if target.type == "object_pattern":
        return modules, dict(_pattern(target))
    callee = _whole(module) or resolve(value, aliases)
    if target.type != "identifier" or callee is None:
        return modules, {}
    if callee.sub or (value.type == "call_expression" and not module and not gives(callee)):
        return modules, {}
    if callee.root[0] == "@" and text(target) in KNOWN:  # what it says itself is as good as where it comes from
        return modules, {}
    # `test.extend(fixtures)` makes another `test`
    kept = tuple(modifier for modifier in callee.modifiers if modifier != "extend")
    return modules, {
        text(target): Callee(callee.root, kept, whole=callee.whole, makes=callee.makes, title=callee.title)
    }


def gives(callee: Callee) -> bool:
    """Whether what was called gives something to call, and registers nothing yet."""
    return bool(callee.modifiers) and callee.modifiers[-1] in GIVING


def _pattern(node: Node) -> Iterator[tuple[str, Callee]]:
    """`const {it: check} = ...`; a known name under its own name needs no alias."""
    for child in named(node):
        if child.type == "pair_pattern":
            name, alias = text(child.child_by_field_name("key")), text(child.child_by_field_name("value"))
            if name in KNOWN and alias.isidentifier():
                yield alias, Callee(name)
