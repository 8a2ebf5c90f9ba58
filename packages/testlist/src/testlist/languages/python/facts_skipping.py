"""Decorators that may skip: they choose between a skip and the test, or make a test that leaves when it runs."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

#: a test that runs and leaves
LEAVING: Final = re.compile(rb"raise\s+(?:\w+\.)*(?:SkipTest|Skipped)\b|\.skipTest\(|\bpytest\.skip\(")
#: what skips in any case, and what does so under a condition of its own
WORDS: Final = {"skip": "always", "skipif": "asks", "skipIf": "asks", "skipUnless": "asks"}
CHOICES: Final = frozenset({"conditional_expression", "parenthesized_expression"})
FUNCTIONS: Final = frozenset({"function_definition", "decorated_definition"})
#: functions in functions, and branches in branches, that are followed
DEEPEST: Final = 6
#: what a function does to tests under a condition
CHOOSES, LEAVES = "chooses", "leaves"


def skips(function: Node, depth: int = DEEPEST) -> str | None:
    """How a decorator may skip under a condition: it chooses, or what it makes leaves; None if it does not."""
    body = function.child_by_field_name("body")
    if body is None or not depth or b"kip" not in (body.text or b""):
        return None
    inner = {text(one.child_by_field_name("name")): one for one in functions(body, depth)}
    kinds: set[str | None] = set()
    names: set[str] = set()
    for value in returned(body, depth):
        name = text(value) if value.type == "identifier" else ""
        if (known := inner.get(name)) is None:
            kinds.add(word(value))
        elif name in names:
            continue  # a function may be returned in many places, and is looked into once
        elif (found := skips(known, depth - 1)) is not None:
            kinds.add(found)
        else:
            kinds.add(LEAVES if LEAVING.search(known.text or b"") else words(known, depth))
        names.add(name)
    if kinds & {CHOOSES, "inner"} or (kinds & {"always", "asks"} and len(kinds) > 1):
        return CHOOSES
    return LEAVES if LEAVES in kinds else None


def words(function: Node, depth: int) -> str | None:
    """`inner` for a function within a decorator that decorates with a condition itself."""
    body = function.child_by_field_name("body")
    found = {word(value) for value in returned(body, depth)} if body is not None else set()
    return "inner" if found == {"asks"} else None


def word(value: Node) -> str | None:
    """What a value says that is built on a known decorator."""
    while value.type == "call" and (called := value.child_by_field_name("function")) is not None:
        value = called
    return WORDS.get(text(value).rpartition(".")[2]) if value.type in ("attribute", "identifier") else None


def functions(block: Node, depth: int) -> Iterator[Node]:
    """Functions that are written in a body."""
    for child in named(block) if depth else ():
        if child.type == "function_definition":
            yield child
        elif child.type == "decorated_definition":
            inner = child.child_by_field_name("definition")
            if inner is not None and inner.type == "function_definition":
                yield inner
        else:
            yield from functions(child, depth - 1)


def returned(node: Node, depth: int) -> Iterator[Node]:
    """Values that a body returns, those of both branches of a choice."""
    for child in named(node) if depth else ():
        if child.type == "return_statement":
            value = next(named(child), None)
            yield from branches(value, depth) if value is not None else ()
        elif child.type not in FUNCTIONS and child.type not in ("class_definition", "expression_statement"):
            yield from returned(child, depth - 1)


def branches(value: Node, depth: int) -> Iterator[Node]:
    """Both results of `a if b else c`; its condition, in the middle, is none."""
    if value.type not in CHOICES or not depth:
        yield value
        return
    parts = list(named(value))
    for part in parts if value.type == "parenthesized_expression" else parts[::2]:
        yield from branches(part, depth - 1)
