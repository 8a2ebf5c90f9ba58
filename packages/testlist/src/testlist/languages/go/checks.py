"""What the functions of one Go file check, and what they call: read from whole files, on demand."""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact
from testlist.kit.checking import Reading, made
from testlist.kit.passing import settle, standing
from testlist.languages.go.checks_conditions import STRINGS, arguments, called, fails, literal, name_of
from testlist.languages.go.checks_failures import GoFailures
from testlist.languages.go.checks_gomega import matched
from testlist.languages.go.checks_names import (
    declared,
    embedded,
    handles_of,
    imported,
    imports_of,
    receiver_name,
    unit_of,
)
from testlist.languages.go.checks_verdict import TESTIFY_IMPORT, GoPassing
from testlist.languages.go.facts_spec_calls import Names, read_call
from testlist.languages.go.facts_specs import names_of
from testlist.languages.go.facts_suites import receiver
from testlist.languages.go.strip import readable
from testlist.languages.go.vocabulary import EITHER, MEASURE, SPEC, TABLE
from testlist.languages.go.vocabulary_checks import SHOENIG_PATHS
from testlist.model import Facts
from testlist.sandbox.syntax import line, named, parse, text

GO: Final = "go"
#: what a test is given
HANDLE: Final = "*testing.T"
#: calls of specs that have a body of their own
TESTS: Final = frozenset({SPEC, TABLE, MEASURE, EITHER})
#: deeper trees are given up
DEEPEST: Final = 400
#: subtests in subtests that are read
NESTED: Final = 10
#: an example with this in a comment is compared with what it prints
OUTPUT: Final = re.compile(r"//\s*(?:unordered )?output:", re.IGNORECASE)


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    root = parse(readable(source), GO)
    imports, unit = imports_of(root), unit_of(root)
    shoenig = frozenset(name for name, path in imports.items() if path in SHOENIG_PATHS)
    file = _File(TESTIFY_IMPORT.search(source) is not None, shoenig)
    every = chain(_functions(root, file), _specs(root, names_of(imported(root)), file))
    functions = list(islice(every, MOST_FUNCTIONS))
    found: BodiesFact = {"functions": functions, "imports": {**imports, "": unit}, "unit": unit}
    types: dict[str, list[str]] = {
        owner: [] for one in functions if (owner := one["name"].rpartition(".")[0]).isidentifier()
    }
    # other files of the package may have more methods of a type
    found["bases"] = {one: [one, *bases] for one, bases in {**types, **dict(embedded(root))}.items()}
    return {**found}


class _File(NamedTuple):
    """What is so of a whole file.  testify: it has this library; shoenig: names of packages of shoenig/test.

    handles: names that the function which is read gives to tests.
    """

    testify: bool
    shoenig: frozenset[str]
    handles: frozenset[str] = frozenset()


def _functions(root: Node, file: _File) -> Iterator[BodyFact]:
    """Functions, methods with their types, and the functions that `t.Run` is given, by their titles."""
    for node in named(root):
        if node.type not in ("function_declaration", "method_declaration"):
            continue
        head, block = node.child_by_field_name("name"), node.child_by_field_name("body")
        if head is None or block is None:
            continue
        owner = receiver(node) if node.type == "method_declaration" else ""
        itself = receiver_name(node) if owner else ""
        handle = _handle(node) if node.type == "function_declaration" else ""
        name = f"{owner}.{text(head)}" if owner else text(head)
        file = file._replace(handles=handles_of(node))
        yield _body(node, head, name, handle, file, itself=itself)
        yield from _subtests(block, 0, NESTED, file)


def _specs(root: Node, names: Names, file: _File) -> Iterator[BodyFact]:
    """Functions of specs of Ginkgo and GoConvey, by title.  None is accused, as a function around it may fail."""
    todo = [(root, 0, NESTED)] if names.ginkgo or names.goconvey else []
    while todo:
        node, depth, nested = todo.pop()
        call = read_call(node, names) if node.type == "call_expression" else None
        if call is not None and call.role in TESTS and call.body is not None:
            yield _body(node, node, call.title, "", file, function=call.body, settles=False)
            nested = nested - 1 if call.role == EITHER else 0
        if depth < DEEPEST and nested:
            todo += [(child, depth + 1, nested) for child in reversed(list(named(node)))]


def _handle(function: Node) -> str:
    """What a function calls the `*testing.T` that is all it takes; empty if it takes anything else."""
    taken = list(named(function.child_by_field_name("parameters")))
    name, kind = (taken[0].child_by_field_name(one) if len(taken) == 1 else None for one in ("name", "type"))
    return text(name) if text(kind) == HANDLE else ""


def _subtests(node: Node, depth: int, nested: int, file: _File) -> Iterator[BodyFact]:
    """Functions that `t.Run` is given.  nested: how many may still stand in each other, as all of each is read."""
    for child in named(node) if depth < DEEPEST and nested else ():
        inner = nested
        if child.type == "call_expression" and name_of(child).rpartition(".")[2] == "Run":
            given = arguments(child)
            function = given[1] if len(given) > 1 and given[1].type == "func_literal" else None
            if function is not None and function.child_by_field_name("body") is not None:
                title = text(given[0])[1:-1] if given[0].type in STRINGS else text(given[0])
                yield _body(child, child, title, _handle(function), file, function=function)
                inner -= 1
        yield from _subtests(child, depth + 1, inner, file)


def _body(
    node: Node,
    head: Node,
    name: str,
    handle: str,
    file: _File,
    *,
    function: Node | None = None,
    itself: str = "",
    settles: bool = True,
) -> BodyFact:
    """One function.

    handle: what it calls its `*testing.T`; node: with what it is given to; function: itself, if that is another node;
    itself: the name of what a method is called on; settles: whether it may say that the body cannot fail.
    """
    reading, block = Reading(), (function or node).child_by_field_name("body")
    names = {name for one in named(node.child_by_field_name("parameters")) for name in declared(one)}
    if block is not None:
        _walk(block, reading, names, GoFailures(file.handles), 0, file.shoenig)
    reading.calls = {_renamed(call, itself): None for call in reading.calls if call.partition(".")[0] not in names}
    found = reading.body(name, head, node)
    statements = [one for child in named(block) for one in named(child)]
    is_compared = OUTPUT.search(text(block)) is not None
    # a suite may set up
    is_empty = not (statements or node.type == "method_declaration" or is_compared)
    if settles and (handle or is_empty):
        passing = GoPassing(handle, testify=file.testify)
        settle(found, passing.verdict(statements, standing(reading.checks)))
    return found


def _renamed(call: str, itself: str) -> str:
    """`self.a` for a method that another one calls on what it was called on itself."""
    owner, dot, rest = call.partition(".")
    return f"self.{rest}" if dot and owner == itself else call


def _walk(
    node: Node, reading: Reading, names: set[str], failures: GoFailures, depth: int, shoenig: frozenset[str]
) -> None:
    """What a node checks and calls.  names: gets those that it declares; shoenig: see _File."""
    if depth > DEEPEST:
        return
    names.update(declared(node))
    for check in failures.checks(node):
        reading.add(check)
    if node.type == "call_expression":
        if (found := called(node, shoenig, failures.handles) or matched(node)) is not None:
            reading.add(found)
        elif node.id in failures.covered:
            pass
        elif fails(node, failures.handles):
            reading.add(made(line(node), "fails", literal=literal))
        elif name := name_of(node):
            reading.calls[name] = None
    for child in named(node):
        _walk(child, reading, names, failures, depth + 1, shoenig)
