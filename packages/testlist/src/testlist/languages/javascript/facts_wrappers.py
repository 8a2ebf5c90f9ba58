"""Functions that stand for tests: those whose value is a name for tests, and those that hand a test on to one.

`c => (c ? it : it.skip)` makes names; `(title, body) => it(title, body)` hands on what it is given.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript import facts_imports
from testlist.languages.javascript.facts_arguments import FUNCTIONS, LITERALS
from testlist.languages.javascript.facts_callee import TRANSPARENT, Callee, resolve
from testlist.sandbox.syntax import named, text

#: bytes; functions of this kind are short
LONGEST: Final = 2_000
#: a body that says nothing of the kind is not looked into
SPEAKING: Final = re.compile(rb"(?i)it|test|describe|context|suite|spec|bench")
DECLARATIONS: Final = frozenset({"lexical_declaration", "variable_declaration"})
#: statements without a say in what the value is
SILENT: Final = frozenset({"comment", "empty_statement", "throw_statement", "function_declaration"})
#: values that are no test, where a condition chooses between one and nothing
EMPTY: Final = FUNCTIONS | {"undefined", "null", "false", "true"}
WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
STEPS: Final = 12
#: what comes out where no test does
NOTHING: Final = Callee("")
Names = dict[str, Callee | None]


def valued(function: Node, aliases: Mapping[str, Callee | None], steps: int = STEPS) -> Callee | None:
    """What a function stands for; None for all that are no wrapper of a test."""
    body = function.child_by_field_name("body")
    if body is None or steps <= 0 or not may_stand(function):
        return None
    given = parameters(function)
    known: Names = {**aliases, **dict.fromkeys(filter(None, given))}
    reading = Wrapper(given, known, steps - 1)
    ends = list(reading.ends(body, steps) if body.type == "statement_block" else reading.values(body, steps))
    found = {one for one in ends if one is not None and one is not NOTHING}
    if None in ends or len({(one.makes, one.title) for one in found}) != 1:
        return None
    # of several, the one that would run, under a condition
    first = min(found, key=lambda one: (len(one.modifiers), one.root))
    return first if len(found) == 1 and NOTHING not in ends else first.then("runIf")


def may_stand(function: Node) -> bool:
    """Whether a function is short enough, and speaks of tests."""
    short = function.end_byte - function.start_byte < LONGEST
    return short and SPEAKING.search(function.text or b"") is not None


def declaration(node: Node, kind: str) -> Node | None:
    """The function that a statement declares."""
    inner = node.child_by_field_name("declaration") if kind == "export_statement" else node
    return inner if inner is not None and inner.type == "function_declaration" else None


@dataclass(slots=True)
class Wrapper:
    """One function.  given: its parameters; known: what names mean in it."""

    given: Sequence[str]
    known: Names
    steps: int

    def ends(self, node: Node, steps: int) -> Iterator[Callee | None]:
        """What the statements of a block come to: a test, NOTHING, or None for what is no wrapper's."""
        kind = node.type
        if steps <= 0:
            yield None
        elif kind in ("statement_block", "else_clause"):
            for child in named(node):
                yield from self.ends(child, steps - 1)
        elif kind in DECLARATIONS:
            for one in named(node):
                known = {name: of for name, of in self.known.items() if of is not None}
                self.known |= facts_imports.read(one, known)[1]
        elif kind == "return_statement":
            value = next(named(node), None)
            yield from self.values(value, steps) if value is not None else (NOTHING,)
        elif kind == "if_statement":
            yield from self.choice(node, steps)
        elif kind == "expression_statement":
            yield from (one for one in self.values(next(named(node)), steps, statement=True) if one is not NOTHING)
        elif kind not in SILENT:
            yield None

    def choice(self, node: Node, steps: int) -> Iterator[Callee | None]:
        """Both branches; without a second one nothing may come of it."""
        first, second = (node.child_by_field_name(name) for name in ("consequence", "alternative"))
        yield from self.ends(first, steps - 1) if first is not None else ()
        if second is not None:
            yield from self.ends(second, steps - 1)
        elif first is not None and b"return" not in (first.text or b"") and b"throw" not in (first.text or b""):
            yield NOTHING

    def values(self, node: Node, steps: int, *, statement: bool = False) -> Iterator[Callee | None]:
        """What an expression comes to.  statement: its value goes nowhere, so that only calls of tests count."""
        while node.type in TRANSPARENT and (inner := next(named(node), None)) is not None:
            node = inner
        if steps <= 0:
            yield None
        elif node.type == "ternary_expression":
            for name in ("consequence", "alternative"):
                branch = node.child_by_field_name(name)
                yield from self.values(branch, steps - 1, statement=statement) if branch is not None else ()
        elif node.type == "binary_expression" and text(node.child_by_field_name("operator")) == "&&":
            right = node.child_by_field_name("right")
            yield from (NOTHING, *self.values(right, steps - 1, statement=statement)) if right is not None else ()
        elif node.type == "call_expression":
            yield self.called(node, statement=statement)
        elif not statement:
            yield self.value(node)

    def value(self, node: Node) -> Callee | None:
        """A name for tests, or a function that stands for one."""
        inner = valued(node, self.known, self.steps) if node.type in FUNCTIONS else resolve(node, self.known)
        if inner is not None and (inner.sub or inner.whole or inner.makes):
            return None
        if inner is None:
            return NOTHING if node.type in EMPTY else None
        return replace(inner, makes=True)

    def called(self, node: Node, *, statement: bool) -> Callee | None:
        """A call that registers what the function is given, or one that gives a name for tests."""
        function = resolve(node.child_by_field_name("function"), self.known)
        title = self.handed(list(named(node.child_by_field_name("arguments"))))
        if function is not None and not function.sub and function.title is None and title is not None:
            return None if function.makes else replace(function, title=title)
        whole = None if statement else resolve(node, self.known)
        if whole is not None and facts_imports.gives(whole):
            return replace(whole, makes=True)
        # a call of anything else, such as one that tells why a test is left out, makes no difference
        return NOTHING if statement and function is None else None

    def handed(self, arguments: list[Node]) -> int | None:
        """Which parameter is the title, if title and body are handed on as they came."""
        words = [self.place(one) for one in arguments]
        if not words or words[0] is None:
            return None
        passed = [one for one, node in zip(words[1:], arguments[1:], strict=True) if node.type not in LITERALS]
        spread = arguments[0].type == "spread_element"
        return words[0] if spread or any(one is not None and one > words[0] for one in passed) else None

    def place(self, node: Node) -> int | None:
        """The parameter that an argument is, or that a title says more of."""
        if node.type not in ("identifier", "spread_element", "template_string", "binary_expression"):
            return None
        words = [text(node)] if node.type == "identifier" else WORD.findall(text(node))
        return next((self.given.index(word) for word in words if word in self.given), None)


def parameters(function: Node) -> list[str]:
    """Names of parameters, the rest as well; an empty one for a pattern."""
    alone = function.child_by_field_name("parameter")
    return [_name(one) for one in ([alone] if alone is not None else named(function.child_by_field_name("parameters")))]


def _name(node: Node) -> str:
    inner = node.child_by_field_name("pattern") or node
    if inner.type == "assignment_pattern":
        inner = inner.child_by_field_name("left") or inner
    if inner.type == "rest_pattern":
        inner = next(named(inner), inner)
    return text(inner) if inner.type == "identifier" else ""
