"""Calls in Kotlin that may build a specification, as a tree: words, titles and what stands inside.

Which of them are tests depends on the style of the specification, which another file may decide.
"""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.jvm.shape import CallFact
from testlist.languages.jvm.vocabulary import BUILDERS
from testlist.sandbox.syntax import column, end_line, line, text

#: calls that are a test in every style that has them: what they do inside is of no interest
LEAVES: Final = frozenset({"", "test", "it", "should", "scenario", "expect", "then", "Then"})
LOOPS: Final = frozenset(
    {"forEach", "forEachIndexed", "onEach", "map", "mapIndexed", "flatMap", "repeat", "forAll", "checkAll", "associate"}
)
LAMBDAS: Final = frozenset({"lambda_literal", "annotated_lambda"})
STRINGS: Final = frozenset({"string_literal", "multiline_string_literal"})
BLOCKS: Final = frozenset(
    {"block", "lambda_literal", "annotated_lambda", "if_expression", "when_expression", "when_entry", "try_expression",
     "catch_block", "finally_block", "labeled_expression", "return_expression", "elvis_expression",
     "parenthesized_expression", "function_body", "annotated_expression", "ERROR"}
)  # fmt: skip
DEEPEST: Final = 40
LONGEST: Final = 300  # characters of a title that is no literal


def entries(node: Node, depth: int = 0) -> Iterator[CallFact]:
    """Entries in a statement or a block."""
    if depth > DEEPEST:
        return
    kind = node.type
    if kind == "call_expression":
        yield from _call(node, depth)
    elif kind in ("infix_expression", "binary_expression"):
        yield from _infix(node, depth)
    elif kind in ("for_statement", "while_statement", "do_while_statement"):
        yield from map(_looped, (entry for child in node.named_children for entry in entries(child, depth + 1)))
    elif kind in BLOCKS:
        for child in node.named_children:
            yield from entries(child, depth + 1)
    elif kind == "property_declaration":
        for child in node.named_children:
            yield from entries(child, depth + 1) if child.type == "call_expression" else ()


def _looped(entry: CallFact) -> CallFact:
    entry["loop"] = True
    return entry


def prepared(node: Node) -> Iterator[CallFact]:
    """Factories of specifications in the value of a property."""
    if node.type == "call_expression":
        yield from (entry for entry in entries(node) if entry["word"] in BUILDERS)


def _call(node: Node, depth: int) -> Iterator[CallFact]:
    """`word(title) { }`, `"title" { }`, `word(title).config(...) { }`, `value.word { }`."""
    callee, *rest = node.named_children
    lambdas = [child for child in rest if child.type in LAMBDAS]
    arguments = [child for child in rest if child.type == "value_arguments"]
    off = False
    if lambdas and not arguments and callee.type == "call_expression" and callee.named_children:
        callee, *rest = callee.named_children
        arguments = [child for child in rest if child.type == "value_arguments"]
    if callee.type == "navigation_expression" and _last(callee) == "config":
        off = any(_disables(one) for one in arguments)
        bodies = lambdas or list(_given(arguments))
        yield from _configured(node, callee.named_children[0], bodies, off=off, depth=depth)
        return
    yield from _entry(node, callee, arguments, lambdas or list(_given(arguments)), off=off, depth=depth)


def _configured(node: Node, target: Node, bodies: list[Node], *, off: bool, depth: int) -> Iterator[CallFact]:
    """What `.config(...)` was called on."""
    arguments: list[Node] = []
    if target.type == "call_expression" and target.named_children:
        target, *rest = target.named_children
        arguments = [child for child in rest if child.type == "value_arguments"]
    yield from _entry(node, target, arguments, bodies, off=off, depth=depth)


def _entry(
    node: Node, callee: Node, arguments: list[Node], bodies: list[Node], *, off: bool, depth: int
) -> Iterator[CallFact]:
    word, heading = "", _first(arguments)
    if callee.type in STRINGS:
        heading = callee
    elif callee.type == "identifier":
        word = text(callee).strip("`")
    elif callee.type == "navigation_expression":
        word = _last(callee)
    else:
        return
    yield from _made(node, word, heading, bodies, off=off, depth=depth)
    if word == "include":
        for argument in (child for group in arguments for child in group.named_children):
            yield from (entry for child in argument.named_children for entry in prepared(child))


def _made(
    node: Node, word: str, heading: Node | None, bodies: list[Node], *, off: bool, depth: int
) -> Iterator[CallFact]:
    """One entry, or nothing for a call without a body, or an unknown one with nothing inside."""
    if not bodies:
        return
    leaf = word.removeprefix("x") in LEAVES and heading is not None
    inner = [] if leaf else [entry for body in bodies for entry in entries(body, depth + 1)]
    if not leaf and not inner and not word.startswith("with"):
        return
    yield _fact(node, word, heading, inner, off=off)


def _infix(node: Node, depth: int) -> Iterator[CallFact]:
    """`"title" should { }` and `"title" - { }`."""
    parts = node.named_children
    if len(parts) < 2 or parts[-1].type not in LAMBDAS:
        return
    left, off = parts[0], False
    word = text(parts[1]).strip("`") if node.type == "infix_expression" and len(parts) == 3 else "-"
    if node.type == "binary_expression" and not any(child.type == "-" for child in node.children):
        return
    if left.type == "call_expression" and left.named_children and _last(left.named_children[0]) == "config":
        off = any(_disables(one) for one in left.named_children[1:])
        left = left.named_children[0].named_children[0]
    inner = list(entries(parts[-1], depth + 1))
    yield _fact(node, f"{word} {{}}" if word != "-" else word, left, inner, off=off)


def _fact(node: Node, word: str, heading: Node | None, inner: list[CallFact], *, off: bool) -> CallFact:
    found: CallFact = {
        "word": word,
        "title": title(heading),
        "line": line(node),
        "column": column(node),
        "end": end_line(node),
    }
    if off:
        found["off"] = True
    if word in LOOPS:
        found["loop"] = True
    if inner:
        found["calls"] = inner
    return found


def _last(node: Node) -> str:
    """The last word of `a.b.c`."""
    parts = node.named_children if node.type == "navigation_expression" else []
    return text(parts[-1]).strip("`") if parts else ""


def _first(arguments: list[Node]) -> Node | None:
    """The first argument that is no lambda."""
    for argument in (child for group in arguments for child in group.named_children):
        if argument.type == "value_argument" and argument.named_children:
            value = argument.named_children[-1]
            return None if value.type in LAMBDAS else value
    return None


def _given(arguments: list[Node]) -> Iterator[Node]:
    """Lambdas among arguments."""
    for argument in (child for group in arguments for child in group.named_children):
        yield from (child for child in argument.named_children if child.type in LAMBDAS)


def _disables(arguments: Node) -> bool:
    """`enabled = false` among arguments."""
    return any(
        [text(child) for child in argument.named_children] == ["enabled", "false"]
        for argument in arguments.named_children
    )


def title(node: Node | None) -> str:
    """A literal without its quotes, anything else as it is written."""
    written = text(node)
    if node is not None and node.type == "string_literal":
        return written[1:-1]
    if node is not None and node.type == "multiline_string_literal":
        return written[3:-3]
    return " ".join(written[:LONGEST].split())
