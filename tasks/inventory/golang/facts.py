"""Facts of one Go file: imports, functions that may be tests, build constraints."""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Final

from tree_sitter import Node

from tasks.inventory.golang.output import has_output
from tasks.inventory.golang.suites import receiver, suites
from tasks.inventory.model import Facts
from tasks.inventory.syntax import column, end_line, line, named, parse, text

KIND: Final = re.compile(r"Test|Benchmark|Fuzz|Example")
VERSION: Final = re.compile(r"v\d+")
CONSTRAINT: Final = re.compile(r"//go:build\s|//\s*\+build\s")
SKIPS: Final = frozenset({"Skip", "Skipf", "SkipNow"})


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"testing": names bound to package testing, "functions": [...], "methods": [...], ...}."""
    root = parse(source, language)
    functions = [node for node in named(root) if node.type == "function_declaration"]
    methods = [node for node in named(root) if node.type == "method_declaration"]
    imports = list(_imports(root))
    own = ["."] if _clause(root) == "testing" else []  # the package itself says T
    facts = {
        "testing": own + [name for name, path in imports if path == "testing"],
        "functions": [fact for node in functions for fact in _function(node) if not _goes_on(fact)],
        "methods": [fact | {"type": receiver(node)} for node in methods for fact in _function(node)],
        **suites(root, imports),
        "constrained": any(CONSTRAINT.match(text(node)) for node in _head(root)),
    }
    return {key: value for key, value in facts.items() if value or key in ("testing", "functions")}


def _head(root: Node) -> Iterator[Node]:
    """Comments before the package clause, where build constraints stand."""
    return takewhile(lambda node: node.type == "comment", root.named_children)


def _clause(root: Node) -> str:
    """Name of the package."""
    clause = next((node for node in named(root) if node.type == "package_clause"), None)
    return text(next(named(clause), None))


def _goes_on(fact: dict[str, Any]) -> bool:
    """`Testing` is another word; suites take methods of any such name."""
    return bool(fact["name"][len(fact["kind"]) :][:1].islower())


def _imports(root: Node) -> Iterator[tuple[str, str]]:
    """The name each import binds, and its path."""
    for declaration in named(root):
        if declaration.type == "import_declaration":
            for spec in _specs(declaration):
                path = text(spec.child_by_field_name("path")).strip('"`')
                yield text(spec.child_by_field_name("name")) or _package(path), path


def _package(path: str) -> str:
    """Name of a package by its path: the last segment that is no version."""
    *_, before, last = ("", *path.split("/"))
    name = before if VERSION.fullmatch(last) and before else last
    return name.partition(".")[0]


def _specs(declaration: Node) -> Iterator[Node]:
    for child in named(declaration):
        if child.type == "import_spec":
            yield child
        elif child.type == "import_spec_list":
            yield from _specs(child)


def _function(node: Node) -> Iterator[dict[str, Any]]:
    name = node.child_by_field_name("name")
    found = KIND.match(text(name))
    if name is None or found is None or node.child_by_field_name("type_parameters"):
        return
    kind, body = found[0], node.child_by_field_name("body")
    parameters = list(named(node.child_by_field_name("parameters")))
    yield {
        "name": text(name),
        "kind": kind,
        "line": line(name),
        "column": column(node),
        "end": end_line(node),
        "parameters": [text(child.child_by_field_name("type")) for child in parameters for _ in range(_count(child))],
        "result": node.child_by_field_name("result") is not None,
        "output": kind == "Example" and has_output(body),
        "skip": _skips(body),
        **({"when": True} if _may_skip(body) else {}),
        "subtests": list(_subtests(body, [])),
    }


def _count(parameter: Node) -> int:
    """`a, b *testing.T` declares two."""
    return max(1, len(parameter.children_by_field_name("name")))


def _statements(body: Node | None) -> Iterator[Node]:
    for child in named(body):
        if child.type == "statement_list":
            yield from _statements(child)
        else:
            yield child


def _skips(body: Node | None) -> bool:
    """`t.Skip()` as the first statement."""
    first = next(_statements(body), None)
    call = next(named(first), None) if first is not None and first.type == "expression_statement" else None
    if call is None or call.type != "call_expression":
        return False
    return text(call.child_by_field_name("function")).rpartition(".")[2] in SKIPS


def _may_skip(body: Node | None) -> bool:
    """`if testing.Short() { t.Skip() }` as the first statement."""
    first = next(_statements(body), None)
    return first is not None and first.type == "if_statement" and _skips(first.child_by_field_name("consequence"))


def _subtests(body: Node | None, outer: list[str]) -> Iterator[dict[str, Any]]:
    """`t.Run("literal", ...)` directly in the body, with those inside it."""
    for statement in _statements(body):
        call = next(named(statement), None) if statement.type == "expression_statement" else None
        if call is None or call.type != "call_expression":
            continue
        function, arguments = call.child_by_field_name("function"), list(named(call.child_by_field_name("arguments")))
        if not text(function).endswith(".Run") or len(arguments) != 2 or "string_literal" not in arguments[0].type:
            continue
        name = text(arguments[0])[1:-1]
        inner = arguments[1].child_by_field_name("body") if arguments[1].type == "func_literal" else None
        yield {
            "name": name, "outer": outer, "line": line(call), "column": column(call),
            "end": end_line(call), "skip": _skips(inner), **({"when": True} if _may_skip(inner) else {}),
        }  # fmt: skip
        yield from _subtests(inner, [*outer, name])
