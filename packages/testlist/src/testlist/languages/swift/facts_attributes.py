"""What `@Test` and `@Suite` say: traits that disable, and the arguments of a parameterized test."""

import re
from typing import Final

from tree_sitter import Node

from testlist.languages.swift.shape import Marks
from testlist.sandbox.syntax import named, text

TRAIT: Final = re.compile(r"^(?:\w+\s*+)?+\.\s*+(disabled|enabled|hidden)\b\s*+(\(?)\s*+(if\s*+:)?\s*+(\w*+)")

LITERALS: Final = frozenset({"true", "false"})


def marks_of(node: Node, attribute: str) -> Marks | None:
    """Facts of the attribute that a declaration or its modifiers bear; None if it bears none of that name."""
    parts = [node] if node.type == "modifiers" else [part for part in named(node) if part.type == "modifiers"]
    for child in (child for modifiers in parts for child in named(modifiers)):
        if child.type == "attribute" and text(next(named(child), None)).rpartition(".")[2] == attribute:
            return _read(list(named(child))[1:])
    return None


def _read(arguments: list[Node]) -> Marks:
    found: Marks = {}
    for position, argument in enumerate(arguments):
        if argument.type == "simple_identifier" and text(argument) == "arguments":
            found["dynamic"] = True
            values = arguments[position + 1 :]
            if len(values) == 1 and values[0].type == "array_literal":
                found["cases"] = sum(1 for _ in named(values[0]))
        elif disables(text(argument)):
            found["status"] = "skipped"
        elif (trait := TRAIT.match(text(argument))) is not None and trait[3] is not None and trait[4] not in LITERALS:
            found["when"] = True
    return found


def disables(trait: str) -> bool:
    """Whether a trait keeps a test from running wherever it runs."""
    found = TRAIT.match(trait)
    if found is None:
        return False
    name, _, condition, value = found.groups()
    if name == "disabled":
        return not condition or value == "true"
    return name == "hidden" or (condition is not None and value == "false")
