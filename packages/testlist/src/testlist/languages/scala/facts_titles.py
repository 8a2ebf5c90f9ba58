"""Texts in Scala that are titles of tests, with the names that are put behind them."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

ESCAPE: Final = re.compile(r"\\(?:u+([0-9A-Fa-f]{4})|(.))", re.DOTALL)
LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
#: texts that are put together to a title, and letters of one that is computed
STEPS: Final = 20
LONGEST: Final = 300
#: names behind a text, and parentheses around it, that are looked through
CHAIN: Final = 40
#: names behind a text that change nothing but the text
QUIET: Final = frozenset({"stripMargin", "trim", "toString", "format"})
#: names behind a name that stands for a title; any other makes another title of it
MARKS: Final = frozenset({"ignore", "only", "fail", "flaky", "pending", "tag"})
#: what stands for a title with options
OPTIONS: Final = frozenset({"TestOptions", "TestName"})


class Title(NamedTuple):
    """A title.  known: it is a text without computed parts; written: some of it stands there.

    marks: names behind it, as in `"adds".ignore`.
    """

    text: str
    known: bool
    written: bool = True
    marks: tuple[str, ...] = ()


def title(node: Node, steps: int = STEPS) -> Title:
    """The title a node stands for; the source of one that is computed."""
    node, marks = bare(node)
    return _text(node, steps)._replace(marks=marks)


def bare(node: Node) -> tuple[Node, tuple[str, ...]]:
    """A text without what is put around and behind it, and the names behind it."""
    marks: list[str] = []
    for _ in range(CHAIN):
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            node = node.named_children[0]
        elif node.type == "call_expression" and (callee := node.child_by_field_name("function")) is not None:
            if callee.type == "identifier" and text(callee) in OPTIONS:
                node = next(arguments(node), node)
            elif callee.type == "field_expression":
                node = callee
            else:
                break
        elif node.type == "instance_expression" and any(text(one) in OPTIONS for one in node.named_children):
            node = next(arguments(node), node)
        elif node.type == "field_expression" and (value := node.child_by_field_name("value")) is not None:
            mark = text(node.child_by_field_name("field"))
            if value.type == "identifier" and mark not in MARKS:
                break
            marks.append(mark)
            node = value
        else:
            break
    return node, tuple(mark for mark in reversed(marks) if mark not in QUIET)


def arguments(node: Node) -> Iterator[Node]:
    """What is given in parentheses."""
    for child in node.named_children:
        if child.type == "arguments":
            yield from named(child)


def _text(node: Node, steps: int) -> Title:
    if node.type == "string":
        return Title(_unescaped(_unquoted(text(node))), known=True)
    if node.type == "interpolated_string_expression":
        inner = next((child for child in node.named_children if child.type == "interpolated_string"), None)
        parts = [] if inner is None else inner.named_children
        said = _unquoted(text(inner))
        return Title(said[:LONGEST], known=all(part.type != "interpolation" for part in parts))
    if node.type == "quote_expression":
        return Title(text(node)[1:], known=True)
    if steps and node.type == "infix_expression" and text(node.child_by_field_name("operator")) == "+":
        sides = [title(side, steps - 1) for side in (node.named_children[0], node.named_children[-1])]
        if all(side.known for side in sides):
            return Title("".join(side.text for side in sides), known=True)
        return Title(text(node)[:LONGEST], known=False, written=any(side.written for side in sides))
    return Title(text(node)[:LONGEST], known=False, written=False)


def _unquoted(literal: str) -> str:
    if literal.startswith('"""'):
        return literal[3:-3].strip() if literal.endswith('"""') and len(literal) > 5 else literal[3:]
    return literal.strip('"') if len(literal) < 2 or literal[-1] != '"' else literal[1:-1]


def _unescaped(literal: str) -> str:
    return ESCAPE.sub(_letter, literal) if "\\" in literal else literal


def _letter(found: re.Match[str]) -> str:
    if found[1]:
        code = int(found[1], 16)
        return chr(code) if code < 0xD800 or code > 0xDFFF else "\ufffd"
    return LETTERS.get(found[2], found[2])
