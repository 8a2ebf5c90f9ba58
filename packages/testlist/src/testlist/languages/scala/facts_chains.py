"""Calls in Scala, taken apart: what is called, on what, and what it is given in how many lists."""

import re
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.scala.vocabulary import SAYS
from testlist.sandbox.syntax import named, text

#: what a body may be written as
BLOCKS: Final = frozenset({"block", "indented_block", "colon_argument", "case_block", "indented_cases"})
#: what a body has that says anything, which is cheaper to ask than its statements
SAYING: Final = re.compile("|".join(sorted(SAYS)).encode())
#: statements of one body that are looked at
MOST: Final = 400
#: letters of what a method is called of
NAMED: Final = 40


class Chain(NamedTuple):
    """A call.  lists: what it is given, the first one first; behind: what stands on the left of an operator."""

    name: str
    on: Node | None
    lists: list[Node]
    behind: Node | None = None


def chain(node: Node) -> Chain:
    """Take a call apart, also one of an operator before an indented block: `"adds" in:`."""
    lists: list[Node] = []
    callee: Node | None = node
    while callee is not None and callee.type in ("call_expression", "generic_function"):
        given = callee.child_by_field_name("arguments")
        if given is not None:
            lists.append(given)
        callee = callee.child_by_field_name("function")
    lists.reverse()
    if callee is None:
        return Chain("", None, lists)
    if callee.type == "field_expression":
        return Chain(text(callee.child_by_field_name("field")), callee.child_by_field_name("value"), lists)
    if callee.type == "postfix_expression" and callee.named_child_count == 2:
        left, operator = callee.named_children
        return Chain(text(operator), None, lists, left)
    if callee.type in ("identifier", "operator_identifier"):
        return Chain(text(callee), None, lists)
    return Chain("", callee, lists)


def first(lists: list[Node]) -> Node | None:
    """The first value that a call is given in parentheses."""
    if not lists or lists[0].type != "arguments":
        return None
    return next(named(lists[0]), None)


def is_block(node: Node | None) -> bool:
    """Whether a node is written as a body."""
    return node is not None and node.type in BLOCKS


def statements(body: Node) -> list[Node]:
    """What stands in a body, and in a function that it consists of; a value alone is its own."""
    found = [body]
    for _ in range(4):
        if len(found) != 1 or found[0].type not in (
            *BLOCKS,
            "lambda_expression",
            "arguments",
            "parenthesized_expression",
        ):
            break
        inner = [*named(found[0])]
        found = inner[1:] if found[0].type == "lambda_expression" else inner
    return found[:MOST]


def says(body: Node) -> list[str]:
    """What statements of a body say of the test: `=pending`; also what is called of a body, as `=pendingUntilFixed`."""
    if not SAYING.search(body.text or b""):
        return []
    return [f"={name}" for one in statements(body) if (name := said(one)) in SAYS]


def said(statement: Node) -> str:
    """The name that a statement consists of, or calls, or calls of a block."""
    if statement.type == "identifier":
        return text(statement)
    if statement.type == "call_expression":
        found = chain(statement)
        return found.name if found.on is None or is_block(found.on) else ""
    if statement.type == "field_expression" and is_block(statement.child_by_field_name("value")):
        return text(statement.child_by_field_name("field"))
    return ""


def held(node: Node) -> Node | None:
    """The block of `provide {}`, which stands behind a verb."""
    if node.type != "call_expression":
        return None
    found = chain(node)
    return found.lists[-1] if found.on is None and found.lists and is_block(found.lists[-1]) else None


def receiver(found: Chain) -> str:
    """What a method is called of, if it is not the class itself."""
    on = "" if found.on is None else text(found.on)[:NAMED]
    return "" if on in ("this", "super") else on


def aspect(node: Node) -> str:
    """The name of `ignore`, `TestAspect.ignore` and `timeout(3.seconds)`."""
    return chain(node).name if node.type in ("call_expression", "field_expression") else text(node)


def has_parameters(node: Node) -> bool:
    """Whether a method asks for values."""
    return any(True for child in node.named_children if child.type == "parameters" for _ in named(child))
