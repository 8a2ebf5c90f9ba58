"""What the methods and examples of one Ruby file check, and what they call: read from whole files, on demand."""

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.kit.bodies import MOST_FUNCTIONS, BodiesFact, BodyFact, CheckFact, Passes
from testlist.kit.checking import Reading, made
from testlist.kit.passing import settle, standing
from testlist.languages.ruby.checks_bases import Bases, constant
from testlist.languages.ruby.checks_calls import arguments, checked, stated
from testlist.languages.ruby.checks_conditions import RubyFailures, literal
from testlist.languages.ruby.checks_verdict import BASES, BLOCKS, METHODS, OWN, SURROUNDED, RubyPassing, is_swallowed
from testlist.languages.ruby.facts import tree
from testlist.languages.ruby.facts_calls import TITLES
from testlist.languages.ruby.facts_literals import anonymous, titles
from testlist.languages.ruby.vocabulary import EXAMPLES, GROUPS
from testlist.languages.ruby.vocabulary_checks import FAIL
from testlist.model import Facts
from testlist.sandbox.syntax import line, named, text

RUBY: Final = "ruby"
FUNCTIONS: Final = frozenset({"method", "singleton_method"})
#: what a body may have besides its statements
CLAUSES: Final = frozenset({"rescue", "else", "ensure"})
SCOPES: Final = frozenset({"class", "module"})
#: deeper trees are given up
DEEPEST: Final = 300
#: calls with blocks in such calls that are read
NESTED: Final = 10


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    returns = METHODS.search(source) is not None and not BLOCKS.search(source)
    known = _File(returns, OWN.search(source) is not None)
    alone = not SURROUNDED.search(source)
    root = tree(source, RUBY)
    functions = list(islice(_functions(root, (), 0, known if alone else None), MOST_FUNCTIONS))
    around = Bases(root)
    found: BodiesFact = {"functions": functions, "imports": around.imports, "bases": around.bases}
    if around.hooks:
        found["hooks"] = list(around.hooks)
    return {**found}


class _File(NamedTuple):
    """What is so of a whole file.  returns: `return` ends a block of a test; own: it has checks of its own."""

    returns: bool
    own: bool


def _functions(
    node: Node, around: tuple[str, ...], depth: int, alone: _File | None, nested: int = NESTED
) -> Iterator[BodyFact]:
    """Methods, with the classes around them, and calls with a title and a block.

    alone: None if something may run around tests; nested: how many of these may still stand in each other, as all of
    each is read.
    """
    for child in named(node) if depth < DEEPEST and nested else ():
        still = nested
        if child.type in FUNCTIONS:
            head = child.child_by_field_name("name")
            name = ".".join((*around, text(head)))
            yield _body(child, head or child, name, child.child_by_field_name("body"), alone)
        elif child.type == "call" and (block := child.child_by_field_name("block")) is not None and _is_titled(child):
            titled = _body(child, child, _title(child, block), block.child_by_field_name("body"), alone)
            yield {**titled, "around": ".".join(around)}
            still -= 1
        inner = (*around, constant(child.child_by_field_name("name"))) if child.type in SCOPES else around
        base = text(child.child_by_field_name("superclass")).lstrip("< ") if child.type == "class" else ""
        yield from _functions(child, inner, depth + 1, alone if base in BASES else None, still)


def _is_titled(call: Node) -> bool:
    """Whether it may declare a test: it stands alone, takes a text first, or has the name of an example."""
    given, method = arguments(call), text(call.child_by_field_name("method"))
    return (
        call.child_by_field_name("receiver") is None
        and method not in GROUPS
        and (not given or given[0].type in TITLES or method in EXAMPLES)
    )


def _title(call: Node, block: Node) -> str:
    """The name that the inventory gives it."""
    return titles(arguments(call), text(call.child_by_field_name("method"))) or anonymous(block)


def _body(node: Node, head: Node, name: str, body: Node | None, alone: _File | None) -> BodyFact:
    reading = Reading()
    if body is not None:
        _walk(body, reading, RubyFailures(), 0)
    found = reading.body(name, head, node)
    if alone is not None and node.child_by_field_name("parameters") is None:
        block = node.child_by_field_name("block")
        if block is None or block.child_by_field_name("parameters") is None:
            returns = alone.returns or node.type in FUNCTIONS
            settle(found, _verdict(list(named(body)), reading, RubyPassing(returns=returns, own=alone.own)))
    return found


def _verdict(statements: list[Node], reading: Reading, passing: RubyPassing) -> Passes | None:
    """Why a test passes; a method may end with a clause that catches what happens in it."""
    if any(one.type in CLAUSES for one in statements):
        return "ignored" if is_swallowed(statements) else None
    return passing.verdict(statements, standing(reading.checks))


def _walk(node: Node, reading: Reading, failures: RubyFailures, depth: int) -> None:
    """What a node checks and calls.  A method in it is of another object, so what that one calls is not known."""
    if depth > DEEPEST:
        return
    if node.type in FUNCTIONS:
        if (body := node.child_by_field_name("body")) is not None:
            before, reading.nested = reading.nested, True
            _walk(body, reading, failures, depth + 1)
            reading.nested = before
        return
    for check in failures.checks(node):
        reading.add(check)
    found = _checks(node)
    for check in found if node.id not in failures.covered else ():
        reading.add(check)
    if not found and (word := _called(node)) and not reading.nested:
        reading.calls[f"self.{word}"] = None
    for child in named(node):
        _walk(child, reading, failures, depth + 1)


def _checks(node: Node) -> list[CheckFact]:
    """The checks that a node itself is."""
    if node.type != "call":
        return [made(line(node), "fails", literal=literal)] if _called(node) == FAIL else []
    check = checked(node)
    return stated(node) or ([check] if check is not None else [])


def _called(node: Node) -> str:
    """The method of its own that a node calls; a word that stands alone is one, called without arguments."""
    if node.type == "call" and node.child_by_field_name("receiver") is None:
        return text(node.child_by_field_name("method"))
    if node.type != "identifier":  # asking for what a node stands in takes as long as it is deep
        return ""
    alone = node.parent is not None and node.parent.type in ("body_statement", "block_body", *FUNCTIONS)
    return text(node) if alone else ""
