"""Marks that a conftest.py gives to tests that have others: `slow` ones are skipped unless an option says otherwise.

The hook is followed in three values.  Whatever a condition asks beside marks and options is not known, and what stands
under it is given: as with `skipif`, a condition may skip.
"""

from collections.abc import Callable, Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.python.config_selection import option_name
from testlist.languages.python.shape import Giving
from testlist.sandbox.syntax import named, text

#: hooks that are followed
HOOKS: Final = frozenset({"pytest_collection_modifyitems", "pytest_itemcollected"})
#: marks that count
GIVEN: Final = frozenset({"skip", "skipif", "xfail"})
OPTIONS: Final = ("getoption", "getvalue")
#: statements below statements, and names for names, that are followed
DEEPEST: Final = 12
#: alternatives of one condition
MOST: Final = 16
LEAVING: Final = frozenset({"return_statement", "continue_statement"})

#: Alternatives, each the marks that a test must have and options that must be given, or with a `!` must not: none of
#: these is false, an empty one is true, None is not known.
Condition = list[list[str]] | None
Bound = dict[str, Node]
Inner = Callable[[Node | None], Condition]
TRUE: Final[Condition] = [[]]
FALSE: Final[Condition] = []


def gives(function: Node) -> list[Giving]:
    """What one hook gives; `!slow` must not be there.

    What all tests without a mark are given is left out: they may have it from where no source shows it.
    """
    given = _block(function.child_by_field_name("body"), TRUE, {}, DEEPEST)
    return [(marks, word) for marks, word in given if any(mark[0] not in "!-" for mark in marks)]


def _block(block: Node | None, reached: Condition, bound: Bound, depth: int) -> Iterator[Giving]:
    for node in named(block) if depth else ():
        if reached == FALSE or node.type in LEAVING:
            return
        if node.type == "expression_statement":
            yield from _expression(next(named(node), None), reached, bound)
        elif node.type == "if_statement":
            yield from _branches(node, reached, bound, depth)
            reached = _behind(node, reached, bound)
        elif node.type in ("for_statement", "with_statement"):
            yield from _block(node.child_by_field_name("body"), reached, bound, depth - 1)


def _expression(node: Node | None, reached: Condition, bound: Bound) -> Iterator[Giving]:
    if node is None:
        return
    if node.type == "assignment":
        value = node.child_by_field_name("right")
        if value is not None:
            bound[text(node.child_by_field_name("left"))] = value
    elif node.type == "call" and text(node.child_by_field_name("function")).endswith(".add_marker"):
        mark = next(named(node.child_by_field_name("arguments")), None)
        mark = bound.get(text(mark), mark)
        called = mark.child_by_field_name("function") if mark is not None and mark.type == "call" else mark
        word = text(called).rpartition(".")[2].strip("\"'")
        yield from ((marks, word) for marks in reached or () if word in GIVEN)


def _branches(node: Node, reached: Condition, bound: Bound, depth: int) -> Iterator[Giving]:
    condition = value(node.child_by_field_name("condition"), bound, depth)
    yield from _block(node.child_by_field_name("consequence"), both(reached, condition), dict(bound), depth - 1)
    for other in node.children_by_field_name("alternative"):
        reached = both(reached, opposite(condition))
        if other.type == "elif_clause":
            condition = value(other.child_by_field_name("condition"), bound, depth)
            yield from _block(
                other.child_by_field_name("consequence"), both(reached, condition), dict(bound), depth - 1
            )
        else:
            yield from _block(other.child_by_field_name("body"), reached, dict(bound), depth - 1)


def _behind(node: Node, reached: Condition, bound: Bound) -> Condition:
    """What holds behind an `if`; one that ends its block lets only the opposite through."""
    body = list(named(node.child_by_field_name("consequence")))
    if not body or body[-1].type not in LEAVING:
        return reached
    return both(reached, opposite(value(node.child_by_field_name("condition"), bound, DEEPEST)))


def value(node: Node | None, bound: Bound, depth: int) -> Condition:
    """What a condition comes to."""
    if node is None or not depth:
        return None
    name = text(node) if node.type == "identifier" else ""
    if name in bound:
        return value(bound[name], {other: one for other, one in bound.items() if other != name}, depth - 1)
    read = READ.get(node.type)
    return read(node, lambda inner: value(inner, bound, depth - 1)) if read is not None else None


def _joined(node: Node, inner: Inner) -> Condition:
    left, right = (inner(node.child_by_field_name(side)) for side in ("left", "right"))
    return both(left, right) if text(node.child_by_field_name("operator")) == "and" else either(left, right)


def _keyword(node: Node, inner: Inner) -> Condition:
    """`"slow" in item.keywords`, and whether a call is None."""
    first, words = next(named(node), None), text(node).split()
    if first is not None and first.type == "call" and words[-1] == "None":
        return inner(first) if words[-3:-1] == ["is", "not"] else opposite(inner(first))
    if first is None or first.type != "string" or not words[-1].endswith("keywords"):
        return None
    mark = text(first).strip("\"'") or "?"
    return [[mark]] if words[1:2] == ["in"] else [[f"!{mark}"]] if words[1:3] == ["not", "in"] else None


def _call(node: Node, inner: Inner) -> Condition:
    called = text(node.child_by_field_name("function"))
    argument = next(named(node.child_by_field_name("arguments")), None)
    if argument is None or argument.type != "string":
        return inner(argument) if called == "bool" else None
    word = text(argument).strip("\"'") or "?"
    if called.endswith(OPTIONS):
        return [[option_name(word)]]
    return [[word]] if called.endswith(".get_closest_marker") else None


#: kind of an expression -> what it comes to
READ: Final[dict[str, Callable[[Node, Inner], Condition]]] = {
    "true": lambda _, __: TRUE,
    "false": lambda _, __: FALSE,
    "parenthesized_expression": lambda node, inner: inner(next(named(node), None)),
    "not_operator": lambda node, inner: opposite(inner(node.child_by_field_name("argument"))),
    "boolean_operator": _joined,
    "comparison_operator": _keyword,
    "attribute": lambda node, _: [[option_name(text(node).rpartition(".")[2])]] if ".option." in text(node) else None,
    "call": _call,
}


def both(left: Condition, right: Condition) -> Condition:
    """A conjunction; what is false decides it alone, and what is known where the other is not."""
    if FALSE in (left, right):
        return FALSE
    if left is None or right is None:
        return right if left is None else left
    if len(left) * len(right) > MOST:
        return None
    return [[*one, *other] for one in left for other in right]


def either(left: Condition, right: Condition) -> Condition:
    """A disjunction; what is true decides it alone."""
    if TRUE in (left, right):
        return TRUE
    return None if left is None or right is None else [*left, *right][:MOST]


def opposite(condition: Condition) -> Condition:
    """A negation: of each alternative something does not hold."""
    if condition is None:
        return None
    found: Condition = TRUE
    for marks in condition:
        found = both(found, [[mark[1:] if mark[0] == "!" else f"!{mark}"] for mark in marks])
    return found
