"""What the functions of one Python file check, and what they call: read from their bodies, on demand."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, CheckFact
from testlist.kit.checking import Reading, at, made, said
from testlist.kit.nearer import declared, without
from testlist.languages.python.checks_constants import is_true
from testlist.languages.python.checks_expressions import arguments, asserted, literal, values_of
from testlist.languages.python.checks_failures import PythonFailures
from testlist.languages.python.checks_verdict import is_alone, is_swallowed, verdict
from testlist.languages.python.facts_values import dotted_of, string_of
from testlist.languages.python.vocabulary_checks import (
    ALONE,
    BEGINNINGS,
    CASE,
    FAIL,
    FUNCTIONS,
    INSTANCES,
    MOCK,
    Meaning,
)
from testlist.model import Facts
from testlist.sandbox.syntax import line, named, parse, text

PYTHON: Final = "python"
FUNCTION, CLASS = "function_definition", "class_definition"
#: statements that end the block they stand in
ENDS: Final = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
#: functions that end it as well
LEAVES: Final = ("pytest.skip", "self.skipTest")
#: what gives a name to something in a function
NEARER: Final = {
    "assignment": "left", "named_expression": "name", "for_statement": "left", "for_in_clause": "left",
    "function_definition": "name", "class_definition": "name", "as_pattern_target": "", "lambda_parameters": "",
}  # fmt: skip
BRANCHES: Final = frozenset(
    {"if_statement", "try_statement", "block", "else_clause", "except_clause", "finally_clause", "elif_clause"}
)


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    root = parse(source, PYTHON)
    alone = is_alone(source, root)
    found: BodiesFact = {"functions": list(islice(_functions(root, (), alone=alone), MOST_FUNCTIONS))}
    if imports := dict(islice(_imports(root), MOST_FUNCTIONS)):
        found["imports"] = imports
    return {**found}


def _imports(block: Node) -> Iterator[tuple[str, str]]:
    """Names that a module imports, at its top or in a branch there, with where they come from."""
    for node in named(block):
        if node.type in ("import_statement", "import_from_statement"):
            module = "".join(text(node.child_by_field_name("module_name")).split())
            for child in node.children_by_field_name("name"):
                alias = child.child_by_field_name("alias")
                name = text(child.child_by_field_name("name") if child.type == "aliased_import" else child)
                yield text(alias) or name, f"{module}:{name}" if module else f"{name}:"
        elif node.type in BRANCHES:
            yield from _imports(node)


def _functions(block: Node | None, classes: tuple[Node, ...], *, alone: bool) -> Iterator[BodyFact]:
    """The functions of a module or class, wherever they stand in it; not those inside of functions.

    alone: nothing in the file runs around its tests.
    """
    for node in named(block):
        if node.type == FUNCTION:
            yield _function(node, classes, alone=alone)
        elif node.type == CLASS:
            yield from _functions(node.child_by_field_name("body"), (*classes, node), alone=alone)
        elif node.child_count:
            yield from _functions(node, classes, alone=alone)


def _function(node: Node, classes: tuple[Node, ...], *, alone: bool) -> BodyFact:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    reading = _Reading()
    statements = list(named(body))
    doc = _documentation(statements)
    if doc:
        statements = statements[1:]
    reading.block(statements)
    without(reading, _own_names(node))
    whole = ".".join([*(text(one.child_by_field_name("name")) for one in classes), text(name)])
    found = reading.body(whole, name or node, node)
    if alone and (passes := verdict(node, statements, classes)):
        found["passes"] = passes
    if doc:
        found["doc"] = doc
    return found


def _own_names(function: Node) -> Iterator[str]:
    """What a function gives a name to; its parameters as well, unless they may be fixtures by the name of these."""
    is_decorated = function.parent is not None and function.parent.type == "decorated_definition"
    is_given = is_decorated or text(function.child_by_field_name("name")).startswith("test")
    for one in named(function.child_by_field_name("parameters")) if not is_given else ():
        yield text(one.child_by_field_name("name") or (one if one.type == "identifier" else next(named(one), None)))
    yield from declared(function.child_by_field_name("body"), NEARER)


def _documentation(statements: list[Node]) -> str:
    """Its first line; empty without any."""
    first = next(named(statements[0]), None) if statements and statements[0].type == "expression_statement" else None
    lines = string_of(first).strip().splitlines() if first is not None and first.type == "string" else []
    return " ".join(lines[0].split())[:200] if lines else ""


@dataclass(slots=True)
class _Reading(Reading):
    """The walk through one body."""

    failures: PythonFailures = field(default_factory=PythonFailures)

    def block(self, statements: list[Node]) -> None:
        """Statements in their order."""
        self.in_order(statements, self.statement, self._leaves)

    def statement(self, node: Node) -> None:
        """One statement, and those inside of it."""
        kind = node.type
        if kind in (FUNCTION, CLASS):
            before, self.nested = (self.nested, self.idle), True
            self.block(list(named(node.child_by_field_name("body"))))
            self.nested, self.idle = before
        elif kind == "assert_statement":
            self._assert(node)
        elif kind == "try_statement" and is_swallowed(node):
            before_idle, self.idle = self.idle, self.idle or "ignored"
            self._parts(node)
            self.idle = before_idle
        else:
            self._parts(node)

    def _parts(self, node: Node) -> None:
        """What a statement consists of: its blocks, and the calls in its expressions."""
        for check in self.failures.checks(node):
            self.add(check)
        for child in named(node):
            if child.type == "block":
                self.block(list(named(child)))
            elif child.type.endswith(("_clause", "_statement", "_definition")) or child.type == "with_item":
                self.statement(child)
            else:
                self._expression(child)

    def _expression(self, node: Node) -> None:
        if node.type == "call":
            self._call(node)
        if node.type == "lambda":
            return
        for child in named(node):
            self._expression(child)

    def _assert(self, node: Node) -> None:
        parts = list(named(node))
        for check in asserted(parts[0], line(node)) if parts else ():
            self.add(check)
        for part in parts:
            self._expression(part)

    def _call(self, node: Node) -> None:
        name = dotted_of(node)
        if not name:
            return
        self.calls[name] = None
        owner, _, last = name.rpartition(".")
        meaning, subject = _meaning(owner, last)
        if meaning is not None and node.id not in self.failures.covered:
            self.add(_checked(node, meaning, subject))
        elif meaning is None and last.startswith(BEGINNINGS) and owner not in ("self", "cls") and owner:
            self.add(made(line(node), "custom", at(arguments(node)[0], 0), literal=literal))

    def _leaves(self, node: Node) -> bool:
        inner = next(named(node), None) if node.type == "expression_statement" else None
        return node.type in ENDS or (inner is not None and inner.type == "call" and dotted_of(inner) in LEAVES)


def _meaning(owner: str, last: str) -> tuple[Meaning | None, str]:
    """What a call checks, and whose method it is."""
    if owner in INSTANCES and last in CASE:
        return CASE[last], ""
    if owner and last in MOCK:
        return MOCK[last], owner
    if last in ALONE and owner not in ("pytest", ""):
        return None, ""
    if last == FAIL and owner == "pytest":
        return CASE[FAIL], ""
    return FUNCTIONS.get(last), ""


def _checked(node: Node, meaning: Meaning, owner: str) -> CheckFact:
    plain, by_name = arguments(node)
    subject = None if owner else at(plain, meaning.subject)
    check = made(
        line(node), meaning.relation, subject, at(plain, meaning.expected), negated=meaning.negated, literal=literal
    )
    if owner:
        check["subject"] = owner
    if meaning.relation in ("raises", "warns"):
        message = by_name.get("match") or by_name.get("expected_regex")
        if message is not None or (meaning.subject == 2 and len(plain) > 1):
            check["message"] = said(message if message is not None else plain[1])
    given = [
        f"{name}={said(by_name[name])}" for name in ("places", "delta", "rtol", "atol", "decimal") if name in by_name
    ]
    if given:
        check["tolerance"] = ", ".join(given)
    if meaning.relation in ("equal", "truthy", "identical") and plain:
        sides = plain[: 1 if meaning.expected is None else 2]
        if is_true(check["relation"], negated=meaning.negated, sides=values_of(sides)):
            check["idle"] = "constant"
    return check
