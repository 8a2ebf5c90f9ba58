"""What the functions of one JavaScript or TypeScript file check, and what they call: read from whole files, on demand.

A test is a call with a title and a function; its body has the name of the title, and stands where the call begins.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, CheckFact
from testlist.kit.checking import Reading, said
from testlist.kit.nearer import declared, without
from testlist.kit.passing import settle
from testlist.languages.javascript.checks_chains import checked, name_of, parts_of
from testlist.languages.javascript.checks_conditions import JavascriptFailures, stated
from testlist.languages.javascript.checks_names import strange
from testlist.languages.javascript.checks_verdict import is_alone, is_swallowed, verdict
from testlist.languages.javascript.facts import tree
from testlist.languages.javascript.facts_imports import foreign
from testlist.languages.javascript.facts_literals import string_of
from testlist.languages.javascript.vocabulary import SUITES
from testlist.model import Facts
from testlist.sandbox.syntax import named, text

#: what the formats of bodies are called after their syntax
SUFFIX: Final = "-bodies"
FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
DECLARED: Final = frozenset({"function_declaration", "generator_function_declaration", "method_definition"})
ENDS: Final = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})
#: parameters, which may be functions
NEARER: Final = {
    "formal_parameters": "*", "required_parameter": "pattern", "optional_parameter": "pattern",
    "arrow_function": "parameter",
}  # fmt: skip
#: deeper trees are given up
DEEPEST: Final = 400


def extract(source: bytes, language: str) -> Facts:
    """Read one file: a BodiesFact."""
    root = tree(source, language.removesuffix(SUFFIX))
    imports = dict(islice(_imports(root), MOST_FUNCTIONS))
    around = _Around(is_alone(source), frozenset(imports), frozenset([*imports, *strange(root)]))
    found: BodiesFact = {"functions": list(islice(_functions(root, 0, around), MOST_FUNCTIONS))}
    if imports:
        found["imports"] = imports
    return {**found}


class _Around(NamedTuple):
    """What is so of a whole file.

    alone: nothing runs around its tests; own: names that it takes from files of the repository; strange: those, and
    others that are none of a library of tests or checks.
    """

    alone: bool
    own: frozenset[str]
    strange: frozenset[str]


def _imports(root: Node) -> Iterator[tuple[str, str]]:
    """Names that a file takes from files of the repository."""
    for node in named(root):
        declarators = [node] if node.type == "import_statement" else named(node)
        for one in declarators if node.type in ("import_statement", "lexical_declaration") else ():
            if one.type in ("import_statement", "variable_declarator"):
                for here, (module, name) in foreign(one):
                    yield here, f"{module}:{name}"


def _functions(node: Node, depth: int, around: _Around) -> Iterator[BodyFact]:
    """The functions with a name, and those that are given to a call with a title."""
    for child in named(node) if depth < DEEPEST else ():
        if child.type in DECLARED:
            yield _body(child, child, text(child.child_by_field_name("name")), around)
        elif child.type == "variable_declarator":
            value = child.child_by_field_name("value")
            if value is not None and value.type in FUNCTIONS:
                yield _body(child, value, text(child.child_by_field_name("name")), around)
        elif child.type == "call_expression" and (given := titled(child)) is not None:
            yield _body(child, given[1], given[0], around)
        yield from _functions(child, depth + 1, around)


def titled(call: Node) -> tuple[str, Node] | None:
    """The title and the function of a call that has both."""
    arguments = list(named(call.child_by_field_name("arguments")))
    if not arguments or arguments[0].type in FUNCTIONS or name_of(call).partition(".")[0] in SUITES:
        return None
    function = next((one for one in arguments[1:] if one.type in FUNCTIONS), None)
    if function is None:
        return None
    title = string_of(arguments[0])
    return (title if title is not None else said(arguments[0])), function


def _body(place: Node, function: Node, name: str, around: _Around) -> BodyFact:
    body = function.child_by_field_name("body")
    reading = _Reading(own=around.own)
    statements = list(named(body)) if body is not None and body.type == "statement_block" else None
    if statements is not None:
        reading.block(statements)
    elif body is not None:
        reading.walk(body, 0)
    without(reading, declared(place, NEARER))
    found = reading.body(name, place, place)
    if around.alone and statements is not None:
        settle(found, verdict(place, function, statements, around.strange))
    return found


@dataclass(slots=True)
class _Reading(Reading):
    """The walk through one body.  own: see _Around."""

    own: frozenset[str] = frozenset()
    failures: JavascriptFailures = field(init=False)

    def __post_init__(self) -> None:
        """Begin without a failure."""
        self.failures = JavascriptFailures(self.own)

    def block(self, statements: list[Node]) -> None:
        """Statements in their order."""
        self.in_order(statements, lambda node: self.walk(node, 0), lambda node: node.type in ENDS)

    def walk(self, node: Node, depth: int) -> None:
        """A statement or an expression, and what is inside of it."""
        if depth > DEEPEST:
            return
        if node.type == "statement_block":
            self.block(list(named(node)))
            return
        if node.type == "try_statement" and is_swallowed(node, self.own):
            before, self.idle = self.idle, self.idle or "ignored"
            self._inside(node, depth)
            self.idle = before
            return
        if found := self._checks(node):
            for check in found if node.id not in self.failures.covered else ():
                self.add(check)
            for part in parts_of(node):
                self.walk(part, depth + 1)
            return
        if node.type == "call_expression" and (name := name_of(node)):
            self.calls[name] = None
        self._inside(node, depth)

    def _checks(self, node: Node) -> list[CheckFact]:
        """The checks that a node itself is."""
        check = checked(node, self.own)
        return stated(node, self.own) or ([check] if check is not None else [])

    def _inside(self, node: Node, depth: int) -> None:
        for check in self.failures.checks(node):
            self.add(check)
        for child in named(node):
            if child.type in FUNCTIONS and node.type == "arguments":
                self._given(child, depth)
            elif child.type in DECLARED:
                before, self.nested = self.nested, True
                self._given(child, depth)
                self.nested = before
            else:
                self.walk(child, depth + 1)

    def _given(self, function: Node, depth: int) -> None:
        """A function that something is given, as `forEach` is: it runs there, as far as anybody knows."""
        body = function.child_by_field_name("body")
        if body is not None:
            self.walk(body, depth + 1)
