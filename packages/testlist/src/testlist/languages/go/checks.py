"""What the functions of one Go file check, and what they call: read from whole files, on demand."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact
from testlist.kit.checking import Reading, made
from testlist.kit.passing import settle, standing
from testlist.languages.go.checks_conditions import STRINGS, arguments, called, conditions, fails, literal, name_of
from testlist.languages.go.checks_verdict import TESTIFY_IMPORT, GoPassing
from testlist.languages.go.facts_suites import receiver
from testlist.model import Facts
from testlist.sandbox.syntax import line, named, parse, text

GO: Final = "go"
#: what a test is given
HANDLE: Final = "*testing.T"
#: deeper trees are given up
DEEPEST: Final = 400


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    testify = TESTIFY_IMPORT.search(source) is not None
    found: BodiesFact = {"functions": list(islice(_functions(parse(source, GO), testify=testify), MOST_FUNCTIONS))}
    return {**found}


def _functions(root: Node, *, testify: bool) -> Iterator[BodyFact]:
    """Functions, methods with their types, and the functions that `t.Run` is given, by their titles.

    testify: the file has this library.
    """
    for node in named(root):
        if node.type not in ("function_declaration", "method_declaration"):
            continue
        head, block = node.child_by_field_name("name"), node.child_by_field_name("body")
        if head is None or block is None:
            continue
        owner = receiver(node) if node.type == "method_declaration" else ""
        handle = _handle(node) if node.type == "function_declaration" else ""
        yield _body(node, head, f"{owner}.{text(head)}" if owner else text(head), GoPassing(handle, testify=testify))
        yield from _subtests(block, 0, testify=testify)


def _handle(function: Node) -> str:
    """What a function calls the `*testing.T` that is all it takes; empty if it takes anything else."""
    taken = list(named(function.child_by_field_name("parameters")))
    name, kind = (taken[0].child_by_field_name(one) if len(taken) == 1 else None for one in ("name", "type"))
    return text(name) if text(kind) == HANDLE else ""


def _subtests(node: Node, depth: int, *, testify: bool) -> Iterator[BodyFact]:
    for child in named(node) if depth < DEEPEST else ():
        if child.type == "call_expression" and name_of(child).rpartition(".")[2] == "Run":
            given = arguments(child)
            function = given[1] if len(given) > 1 and given[1].type == "func_literal" else None
            if function is not None and function.child_by_field_name("body") is not None:
                title = text(given[0])[1:-1] if given[0].type in STRINGS else text(given[0])
                yield _body(child, child, title, GoPassing(_handle(function), testify=testify), function)
        yield from _subtests(child, depth + 1, testify=testify)


def _body(node: Node, head: Node, name: str, passing: GoPassing, function: Node | None = None) -> BodyFact:
    """One function.  node: with what it is given to; function: itself, if that is another node."""
    reading, block = Reading(), (function or node).child_by_field_name("body")
    if block is not None:
        _walk(block, reading, 0)
    found = reading.body(name, head, node)
    statements = [one for child in named(block) for one in named(child)]
    if passing.handle or (not statements and node.type != "method_declaration"):  # a suite may set up
        settle(found, passing.verdict(statements, standing(reading.checks)))
    return found


def _walk(node: Node, reading: Reading, depth: int) -> None:
    if depth > DEEPEST:
        return
    condition, block = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    failing = _failing(block) if node.type == "if_statement" and block is not None else None
    if failing is not None and condition is not None:
        for check in conditions(condition, line(node)):
            reading.add(check)
    if node.type == "call_expression":
        if (found := called(node)) is not None:
            reading.add(found)
        elif fails(node) and not _is_under_condition(node):
            reading.add(made(line(node), "fails", literal=literal))
        elif name := name_of(node):
            reading.calls[name] = None
    for child in named(node):
        _walk(child, reading, depth + 1)


def _failing(block: Node) -> Node | None:
    """The call that fails the test in the statements of a block itself."""
    for statement in _statements(block):
        inner = next(named(statement), None) if statement.type == "expression_statement" else None
        if inner is not None and inner.type == "call_expression" and fails(inner):
            return inner
    return None


def _is_under_condition(call: Node) -> bool:
    """Whether it stands in a block of its own under a condition, which is the check then."""
    block = call.parent
    while block is not None and block.type in ("expression_statement", "statement_list", "block"):
        block = block.parent
    above = block.child_by_field_name("consequence") if block is not None and block.type == "if_statement" else None
    return above is not None and above.start_byte <= call.start_byte < above.end_byte


def _statements(block: Node) -> Iterator[Node]:
    for child in named(block):
        yield from named(child) if child.type == "statement_list" else (child,)
