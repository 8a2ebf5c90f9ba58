"""Facts of one Go file: imports, functions that may be tests, build constraints."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from tree_sitter import Node

from testlist.languages.go.facts_output import has_output
from testlist.languages.go.facts_specs import specs
from testlist.languages.go.facts_statements import read
from testlist.languages.go.facts_suites import receiver, suites
from testlist.languages.go.shape import FunctionFact, GoFacts, MethodFact
from testlist.languages.go.strip import stripped
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, named, parse, text

KIND: Final = re.compile(r"Test|Benchmark|Fuzz|Example")
VERSION: Final = re.compile(r"v\d+")
CONSTRAINT: Final = re.compile(r"//go:build\s|//\s*\+build\s")


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"testing": names bound to package testing, "functions": [...], "methods": [...], ...}."""
    top = parse(stripped(source), language).named_children
    by_type: dict[str, list[Node]] = defaultdict(list)
    for node in top:
        by_type[node.type].append(node)
    imports = list(_imports(by_type["import_declaration"]))
    own = ["."] if _clause(by_type["package_clause"]) == "testing" else []  # the package itself says T
    methods = by_type["method_declaration"]
    facts: GoFacts = {
        "testing": own + [name for name, path in imports if path == "testing"],
        "functions": [fact for node in by_type["function_declaration"] for fact in _function(node, whole=True)],
        "methods": [_method(node, fact) for node in methods for fact in _function(node, whole=False)],
        **suites(by_type, imports),
        **specs(top, imports),
        "constrained": any(CONSTRAINT.match(text(node)) for node in _head(top)),
    }
    return {key: value for key, value in facts.items() if value or key in ("testing", "functions")}


def _head(top: Sequence[Node]) -> Iterator[Node]:
    """Comments before the package clause, where build constraints stand."""
    return takewhile(lambda node: node.type == "comment", top)


def _clause(clauses: Sequence[Node]) -> str:
    """Name of the package."""
    return text(next(named(clauses[0]), None)) if clauses else ""


def _imports(declarations: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """The name each import binds, and its path."""
    for declaration in declarations:
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
            yield from (spec for spec in named(child) if spec.type == "import_spec")


def _function(node: Node, *, whole: bool) -> Iterator[FunctionFact]:
    """A function that may be a test.  whole: `Testing` is another word; suites take methods of any such name."""
    head = node.child_by_field_name("name")
    name = text(head)
    found = KIND.match(name)
    if head is None or found is None or (whole and name[found.end() :][:1].islower()):
        return
    if node.child_by_field_name("type_parameters") is not None:
        return
    kind, body = found[0], node.child_by_field_name("body")
    parameters = named(node.child_by_field_name("parameters"))
    yield {
        "name": name,
        "kind": kind,
        "line": line(head),
        "column": column(node),
        "end": end_line(node),
        "parameters": [text(child.child_by_field_name("type")) for child in parameters for _ in range(_count(child))],
        "result": node.child_by_field_name("result") is not None,
        "output": kind == "Example" and has_output(body),
        **read(body),
    }


def _method(node: Node, fact: FunctionFact) -> MethodFact:
    return {**fact, "type": receiver(node)}


def _count(parameter: Node) -> int:
    """`a, b *testing.T` declares two."""
    return max(1, len(parameter.children_by_field_name("name")))
