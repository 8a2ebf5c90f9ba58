"""Tests that are put into a class by `setattr`: by a module itself, or by a function that it gives the class to."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.python.facts_values import calls, dotted_of
from testlist.languages.python.shape import AttachItem, CallItem
from testlist.sandbox.syntax import column, end_line, line, named, text

SETS: Final = "setattr"
#: nodes in nodes of one function that are looked at
DEEPEST: Final = 60
#: calls of one function that are kept
MOST: Final = 20
WORD: Final = "test"
#: the class is among the first arguments, and is called like one
CLASS: Final = re.compile(r"_*[A-Z]\w*")
METHOD: Final = re.compile(r"_*[A-Z]\w*\.[a-z_]\w*")


def attach(call: Node) -> AttachItem | None:
    """`setattr(Class, "test_" + name, make(…))`; None for any other call, and for a name that is no test's."""
    given = (
        list(named(call.child_by_field_name("arguments"))) if text(call.child_by_field_name("function")) == SETS else []
    )
    if len(given) != 3 or not dotted_of(given[0]):
        return None
    owner, name, value = given
    lead = _lead(name)
    if lead is not None and not lead.startswith(WORD):
        return None
    head = "" if value.type == "lambda" else dotted_of(value)
    if not head and value.type != "lambda":
        return None
    item = AttachItem(k="attach", owner=text(owner), name=_shown(name), head=head, line=line(call), column=column(call),
                      end=end_line(call))  # fmt: skip
    if value.type == "call":
        item["called"] = calls(value)
    return item


def handed(call: Node) -> CallItem | None:
    """A call that is given a class, as `add_test(Class, name)` and `Class.add_tests(name)`."""
    head, given = dotted_of(call), list(named(call.child_by_field_name("arguments")))
    is_given = any(one.type == "identifier" and CLASS.fullmatch(text(one)) for one in given)
    if not head or not (is_given or METHOD.fullmatch(head)):
        return None
    words = [_shown(one) if _may_name_a_test(one) else "" for one in given]
    tells = WORD in head.lower() or any(WORD in text(one).lower() for one in given[1:])
    return CallItem(k="call", head=head, given=words, tells=tells)


def attached(function: Node) -> list[AttachItem]:
    """What a function puts into one of its parameters, or into a class of the module."""
    found, inner, made = list[AttachItem](), set[str](), dict[str, Node]()
    for node in _within(function.child_by_field_name("body"), DEEPEST):
        if node.type == "function_definition":
            inner.add(text(node.child_by_field_name("name")))
        elif node.type == "assignment" and (value := node.child_by_field_name("right")) is not None:
            made[text(node.child_by_field_name("left"))] = value
        elif node.type == "call" and len(found) < MOST and (item := attach(node)) is not None:
            _known(item, inner, made)
            name = made.get(item["name"])
            if name is None or _may_name_a_test(name):
                found.append(item if name is None else {**item, "name": _shown(name)})
    return found


def _known(item: AttachItem, inner: set[str], made: dict[str, Node]) -> None:
    """Say what a name in a function stands for."""
    if "called" in item or item["head"] not in inner | made.keys():
        return
    value = made.get(item["head"])
    if item["head"] in inner or (value is not None and value.type == "lambda"):
        item["head"] = ""
    elif value is not None:
        item["head"] = dotted_of(value)
        if value.type == "call":
            item["called"] = calls(value)


def _within(node: Node | None, depth: int) -> Iterator[Node]:
    """Nodes of a body, also in functions of its own, which it may call in a loop."""
    for child in named(node) if depth else ():
        yield child
        if child.type not in ("class_definition", "lambda"):
            yield from _within(child, depth - 1)


def _may_name_a_test(name: Node) -> bool:
    lead = _lead(name)
    return lead is None or lead.startswith(WORD)


def _lead(name: Node, depth: int = DEEPEST) -> str | None:
    """How a name begins, if that is written there."""
    if name.type == "string":
        first = next(named(name), None)
        parts = [child for child in name.named_children if child.type not in ("string_start", "string_end")]
        return (text(parts[0]) if parts[0].type == "string_content" else None) if first is not None and parts else ""
    left = name.child_by_field_name("left") if name.type == "binary_operator" else None
    if name.type == "call":
        function = name.child_by_field_name("function")
        left = function.child_by_field_name("object") if function is not None else None
    return _lead(left, depth - 1) if left is not None and depth else None


def _shown(name: Node) -> str:
    """A name as a row has it: a string with what it is made of, anything else as it stands."""
    if name.type == "string":
        return "".join(text(one) for one in name.named_children if one.type in ("string_content", "interpolation"))
    return text(name)


def parameters(function: Node) -> list[str]:
    """Names of what a function is given, in order."""
    found = list[str]()
    for one in named(function.child_by_field_name("parameters")):
        name = one if one.type == "identifier" else one.child_by_field_name("name") or next(named(one), None)
        found.append(text(name))
    return found
