"""Calls in Dart by name: `test('title', () {...}, skip: true)`, also through a prefix of an import."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.dart.facts_titles import title_of, written
from testlist.languages.dart.shape import CallFact
from testlist.languages.dart.vocabulary import LOOPS, PERHAPS, WORDS
from testlist.sandbox.syntax import column, end_line, line, named, text

SKIPS: Final = re.compile(
    r"(?:async\s*+)?\{\s*+(?:await\s++)?(?:(markTestSkipped)|if\s*+\([^{};]{0,200}\)\s*+\{?\s*+markTestSkipped)\s*+\("
)
CALLING: Final = re.compile(r"(?<![\w.])(\w++)!?(?:\??\.call)?\s*+\(")
NOTHING: Final = frozenset({"false", "null"})
FUNCTION: Final = "function_expression"
LITERALS: Final = frozenset(
    {"string_literal", "decimal_integer_literal", "true", "false", "null_literal", "list_literal"}
)
#: bytes of a function in which is looked for what calls a parameter
SEARCHED: Final = 4_000
#: arguments that are looked at, and parameters of functions in each other
MOST: Final = 40


class Called(NamedTuple):
    """One call.  start: where it begins; selectors: those behind it, of which `end` is the last.

    positional, labelled: its arguments; arguments: all of them; source: of the file.
    """

    word: str
    start: Node
    end: Node
    selectors: int
    positional: list[Node]
    labelled: dict[str, Node]
    arguments: list[Node]
    source: bytes

    @property
    def may_declare(self) -> bool:
        """Whether it may declare a test."""
        if not self.positional:
            return False
        has_body = any(one.type == FUNCTION for one in (*self.positional, *self.labelled.values()))
        if self.word in WORDS:
            return has_body or (len(self.positional) > 1 and self.positional[1].type not in LITERALS)
        titled = self.positional[0].type == "string_literal"
        return (titled and has_body) or (PERHAPS.search(self.word) is not None and len(self.positional) > 1)

    def passes_on(self, parameters: AbstractSet[str]) -> bool:
        """Whether title and body are those that the function around is given."""
        if not parameters or not self.positional or not _mentions(self.positional[0], self.source, parameters):
            return False
        bodies = (*self.positional[1:], *self.labelled.values())
        return any(_gives(one, self.source, parameters) for one in bodies[:MOST])


def called(children: Sequence[Node], position: int, prefixes: AbstractSet[str], source: bytes) -> Called | None:
    """The call that begins at a child, which is an identifier; None for anything else."""
    start = children[position]
    word, rest, selectors = text(start), children[position + 1 : position + 3], 1
    if word in prefixes and len(rest) == 2 and (member := _member(rest[0])):
        word, rest, selectors = member, rest[1:], 2
    part = _part(rest[0]) if rest else None
    if part is None:
        return None
    positional, labelled, arguments = list[Node](), dict[str, Node](), list[Node]()
    for argument in named(part):
        arguments.append(argument)
        inner = argument.named_children
        if argument.type == "named_argument" and len(inner) > 1:
            labelled[text(inner[0]).rstrip(": ")] = inner[-1]
        elif argument.type == "argument" and inner:
            positional.append(inner[0] if len(inner) == 1 else argument)
    return Called(word, start, rest[0], selectors, positional, labelled, arguments, source)


def fact_of(one: Called, *, dynamic: bool, when: bool) -> CallFact:
    """A call as a fact."""
    title, made = title_of(one.positional[0], one.source)
    last = end_line(one.end)
    fact: CallFact = {
        "word": one.word,
        "title": title,
        "line": line(one.start),
        "column": column(one.start),
        "end": last,
    }
    status, depends = _status(one)
    if status is not None:
        fact["status"] = status
    if dynamic or made or "variant" in one.labelled:
        fact["dynamic"] = True
    if when or depends:
        fact["when"] = True
    return fact


def calls_many(selector: Node, before: Node) -> bool:
    """Whether a selector belongs to a method that calls a function for each of many: `list.forEach((one) {...})`."""
    return _part(selector) is not None and _member(before) in LOOPS


def parameters_of(signature: Node) -> tuple[str, frozenset[str]]:
    """Name and first parameters of a function."""
    name, parameters, todo = "", set[str](), [signature]
    while todo:
        node = todo.pop()
        if node.type == "formal_parameter" and len(parameters) < MOST:
            names = [text(child) for child in node.named_children if child.type == "identifier"]
            parameters.update(names[-1:])
        elif node.type == "identifier":
            name = name or text(node)
        elif node.type not in ("formal_parameter", "function_body", "type_arguments", "function_type"):
            todo += reversed(node.named_children)
    return name, frozenset(parameters)


def _member(selector: Node) -> str:
    """`.name` of a selector; empty for none."""
    inner = selector.named_children
    if selector.type == "selector" and inner and inner[0].type == "unconditional_assignable_selector":
        return text(next(named(inner[0]), None))
    return ""


def _part(selector: Node) -> Node | None:
    """The arguments of a selector that calls."""
    inner = selector.named_children
    if selector.type == "selector" and inner and inner[0].type == "argument_part":
        return next((one for one in inner[0].named_children if one.type == "arguments"), None)
    return None


def _mentions(title: Node, source: bytes, parameters: AbstractSet[str]) -> bool:
    """Whether a title is made of a parameter."""
    return any(word in parameters for word in re.findall(r"\w++", written(title, source, SEARCHED)))


def _gives(body: Node, source: bytes, parameters: AbstractSet[str]) -> bool:
    """Whether an argument is a parameter, or a function that calls one."""
    if body.type == "identifier":
        return text(body) in parameters
    if body.type != FUNCTION:
        return False
    return any(name in parameters for name in CALLING.findall(written(body, source, SEARCHED)))


def _status(one: Called) -> tuple[str | None, bool]:
    """The status that a call gives, and whether a condition decides on it."""
    depends = "testOn" in one.labelled or "onPlatform" in one.labelled
    if (skip := one.labelled.get("skip")) is not None and text(skip) not in NOTHING:
        if skip.type == "string_literal" or text(skip) == "true":
            return "skipped", False
        depends = True
    if text(one.labelled.get("solo")) == "true":
        return "focused", depends
    body = next((child for child in one.positional[1:] if child.type == FUNCTION), None)
    block = body.child_by_field_name("body") if body is not None else None
    begins = SKIPS.match(written(block, one.source, SEARCHED)) if block is not None else None
    if begins is not None:
        return ("skipped", depends) if begins[1] else (None, True)
    return None, depends
