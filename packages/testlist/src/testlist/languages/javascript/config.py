"""Runner configuration written in JavaScript: the exported object, as data."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from tree_sitter import Node

from testlist.languages.javascript.config_exports import (
    WHOLE,
    Base,
    assigned,
    given_out,
    handed_on,
    imported,
    offered,
    only_one,
)
from testlist.languages.javascript.config_files import merged
from testlist.languages.javascript.facts_literals import required, value_of
from testlist.model import Facts
from testlist.sandbox.syntax import named, parse, text

WRAPPING: Final = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression", "await_expression"})
FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function_declaration"})

#: more names than a file has that configurations are built on; each may hold what the others hold
OFFERS: Final = 32
#: files that one configuration may be built on; these are in their turn built on others
BASES: Final = 8


def extract(source: bytes, language: str) -> Facts:
    """Read a configuration: {"data": value, "bases": what it is built on, "offers": what others may build on}.

    bases: [module, name there]; offers: tables that it exports under a name.  What is computed is None.
    """
    root = parse(source, language.partition("-")[0])
    variables = {name: value for node in named(root) for name, value in assigned(node)}
    exported = next((value for node in named(root) for value in given_out(node)), None) or only_one(root)
    data = _value(exported, variables, 12)
    facts: Facts = {
        "data": _changed(data, root, text(exported)) if exported is not None and exported.type == "identifier" else data
    }
    origins = {own: (module, name) for own, module, name in imported(root)}
    found = dict.fromkeys([*_bases(exported, variables, origins, 12), *handed_on(root)])
    if bases := [[module, name] for module, name in found if module.startswith(".")][:BASES]:
        facts["bases"] = bases
    named_ones = islice(offered(root, variables), OFFERS)
    tables = ((name, _value(value, variables, 12)) for name, value in named_ones if value.type not in FUNCTIONS)
    if offers := {name: value for name, value in tables if isinstance(value, dict)}:
        facts["offers"] = offers
    return facts


def _changed(data: Any, root: Node, name: str) -> Any:
    """The exported object after statements that set a member of it, or add to one: `config.testMatch.push(...)`."""
    for statement in named(root):
        node = next(named(statement), None) if statement.type == "expression_statement" else None
        if node is None or not text(node).startswith(f"{name}."):
            continue
        if node.type == "assignment_expression":
            key, values = text(node.child_by_field_name("left")), [node.child_by_field_name("right")]
            change = _value(values[0], {}, 12)
        elif node.type == "call_expression":
            key, _, method = text(node.child_by_field_name("function")).rpartition(".")
            change = [_value(one, {}, 12) for one in named(node.child_by_field_name("arguments"))]
            known = data.get(key.removeprefix(f"{name}.")) if isinstance(data, dict) else None
            change = [*(known if isinstance(known, list) else []), *change] if method == "push" else None
        else:
            continue
        key = key.removeprefix(f"{name}.")
        if change is not None and "." not in key and isinstance(data, dict | None):
            data = (data or {}) | {key: change}
    return data


def _bases(node: Node | None, variables: dict[str, Node], modules: dict[str, Base], steps: int) -> Iterator[Base]:
    """Modules whose content goes into a value: spread into it, merged with it, or handed on as it."""
    if node is None or steps <= 0:
        return
    if module := required(node):
        yield module, WHOLE
    elif node.type == "identifier" and text(node) in modules:
        yield modules[text(node)]
    elif node.type == "identifier":
        yield from _bases(variables.get(text(node)), variables, modules, steps - 1)
    elif node.type == "object":
        spread = (next(named(child), None) for child in named(node) if child.type == "spread_element")
        yield from (module for child in spread for module in _bases(child, variables, modules, steps - 1))
    elif node.type == "call_expression":
        called = node.child_by_field_name("function")
        given = [called, *named(node.child_by_field_name("arguments"))]
        yield from (module for child in given for module in _bases(child, variables, modules, steps - 1))
    elif node.type in FUNCTIONS:
        yield from _bases(_returned(node, variables), variables, modules, steps - 1)
    elif node.type in WRAPPING:
        yield from _bases(next(named(node), None), variables, modules, steps - 1)


def _value(node: Node | None, variables: dict[str, Node], steps: int) -> Any:
    """Look through defineConfig(...), functions that return the object, and names."""
    if node is None or steps <= 0:
        return None
    if node.type == "identifier":
        return _value(variables.get(text(node)), variables, steps - 1)
    if node.type in WRAPPING:
        return _value(next(named(node), None), variables, steps - 1)
    if node.type == "call_expression":
        parts = [_value(child, variables, steps - 1) for child in named(node.child_by_field_name("arguments"))]
        return _merged(parts)
    if node.type in FUNCTIONS:
        return _value(_returned(node, variables), variables, steps - 1)
    return value_of(node, variables)


def _returned(function: Node, variables: dict[str, Node]) -> Node | None:
    """What a function returns at its end.  variables: those of the function are added."""
    body = function.child_by_field_name("body")
    if body is None or body.type != "statement_block":
        return body
    result = None
    for statement in named(body):
        variables |= dict(assigned(statement))
        if statement.type == "return_statement":
            result = next(named(statement), None)
    return result


def _merged(parts: list[Any]) -> Any:
    """mergeConfig(a, b): later tables win, one level down too."""
    tables = [part for part in parts if isinstance(part, dict)]
    return merged(tables) if tables else next((part for part in parts if isinstance(part, list)), None)
