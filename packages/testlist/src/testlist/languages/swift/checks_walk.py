"""The walk through one body in Swift: its checks, and what it calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from tree_sitter import Node

from testlist.kit.checking import Part, Reading, made
from testlist.kit.failures import raised
from testlist.languages.swift.checks_calls import WORDS, bare, name_of
from testlist.languages.swift.checks_conditions import BINARY, conditions, literal
from testlist.languages.swift.checks_functions import called, expected_of, failing, operated, statements_of
from testlist.languages.swift.checks_names import Seen
from testlist.languages.swift.vocabulary_checks import MACROS
from testlist.sandbox.syntax import line, named, text

#: deeper trees are given up
DEEPEST: Final = 200
#: declarations, which are read as functions of their own
DECLARATIONS: Final = frozenset({"function_declaration", "class_declaration", "protocol_declaration"})
#: what a failure may stand in that no condition decides on
PLAIN: Final = frozenset({"statements", "function_body", *WORDS})


@dataclass(slots=True)
class Walk(Reading):
    """One body.  names: what they mean in it; nimble: the file has Nimble.

    typed: it is a method, so that a name alone may mean one of a base.
    """

    names: Seen = field(default_factory=Seen)
    typed: bool = False
    nimble: bool = False

    def node(self, node: Node, depth: int = 0) -> None:
        """A statement or an expression, and those inside of it."""
        if depth > DEEPEST or node.type in DECLARATIONS:
            return
        kind = node.type
        if kind == "macro_invocation" and text(next(named(node), None)) in MACROS:
            for check in expected_of(node, kept=_is_kept(node)):
                self.add(check)
        elif kind == "call_expression":
            self._call(node)
        elif kind in BINARY and (node.parent is None or node.parent.type not in BINARY):
            if (found := operated(node)) is not None:
                self.add(found)
        elif kind in FORKS:
            FORKS[kind](self, node)
        for child in named(node):
            self.node(child, depth + 1)

    def _call(self, call: Node) -> None:
        before = len(self.checks)
        for check in called(call):
            self.add(check)
        name = name_of(call)
        if failing(name, nimble=self.nimble):
            if _is_certain(call):
                self.add(made(line(call), "fails", literal=literal))
            return
        meant = self.names.called(name, call)
        if name in self.names.own or name in self.names.near or name in self.names.local:
            del self.checks[before:]  # a function of the repository says itself what it checks
        elif self.typed and meant == name and "." not in name:
            meant = f"self.{name}"
        if meant and len(self.checks) == before:
            self.calls[meant] = None

    def _fails(self, statements: Sequence[Node]) -> bool:
        """Whether one of some statements fails the test."""
        for one in statements:
            result = one.child_by_field_name("result") if one.type == "control_transfer_statement" else one
            call = bare(result) if result is not None else None
            if call is not None and call.type == "call_expression" and failing(name_of(call), nimble=self.nimble):
                return True
        return False

    def branch(self, node: Node) -> None:
        """`if a { fail }`, `if a { } else { fail }`, `guard a else { fail }`."""
        head = [*takewhile(lambda one: one.type not in ("{", "else"), node.children[1:])]
        clauses = _clauses([one for one in head if one.type != "comment"])
        blocks = node.children[1 + len(head) :]
        other = next((place for place, one in enumerate(blocks) if one.type == "else"), len(blocks))
        if self._fails(_statements(blocks[:other])):
            if len(clauses) == 1:
                self._clause(clauses[0], node, negated=True)
        elif self._fails(_statements(blocks[other:])):
            for clause in clauses:
                self._clause(clause, node, negated=False)

    def _clause(self, clause: list[Node], node: Node, *, negated: bool) -> None:
        """`a == b`, `let x = a`, `case .b = a`."""
        where = line(clause[0])
        sign = next((place for place, one in enumerate(clause) if one.type == "="), None)
        value = Part(bare(clause[-1]).text or b"")
        if len(clause) == 1:
            for check in conditions(clause[0], where, negated=negated):
                self.add(check)
        elif clause[0].type == "case" and sign is not None and sign > 1:
            begin = node.start_byte
            pattern = Part((node.text or b"")[clause[1].start_byte - begin : clause[sign - 1].end_byte - begin])
            self.add(made(where, "matches", value, pattern, negated=negated, literal=literal))
        elif clause[0].type == "value_binding_pattern":
            self.add(made(where, "none", value, negated=not negated, literal=literal))

    def switch(self, node: Node) -> None:
        """All but one of its entries fail."""
        entries = [one for one in named(node) if one.type == "switch_entry"]
        alive = [one for one in entries if not self._fails(statements_of(one))]
        value = node.child_by_field_name("expr")
        if len(alive) == 1 and len(entries) > 1 and value is not None:
            patterns = [one for one in named(alive[0]) if one.type == "switch_pattern"]
            if patterns:
                begin = alive[0].start_byte
                whole = (alive[0].text or b"")[patterns[0].start_byte - begin : patterns[-1].end_byte - begin]
                sides = Part(bare(value).text or b""), Part(whole)
                self.add(made(line(node), "matches", *sides, literal=literal))

    def do(self, node: Node) -> None:
        """`do { try f(); fail } catch { }`, `do { try f() } catch { fail }`."""
        statements = statements_of(node)
        catches = [one for one in named(node) if one.type == "catch_block"]
        tried = [one for one in statements if b"try" in (one.text or b"")]
        if not catches or not tried:
            return
        failing = [one for one in catches if self._fails(statements_of(one))]
        alive = [_kinds(one) for one in catches if one not in failing]
        if self._fails(statements):
            self.add(raised(line(node), bare(tried[-1]).text or b"", alive or [[]], negated=False))
        elif failing:
            self.add(raised(line(node), bare(tried[0]).text or b"", [*map(_kinds, failing)], negated=True))


#: statements that may lead to a failure
FORKS: Final = {
    "if_statement": Walk.branch,
    "guard_statement": Walk.branch,
    "switch_statement": Walk.switch,
    "do_statement": Walk.do,
}


def _kinds(catch: Node) -> list[str]:
    """What a `catch` takes, as it is written; none if that is every error."""
    pattern = catch.child_by_field_name("error")
    if pattern is None or [one.type for one in named(pattern)][:1] == ["value_binding_pattern"]:
        return []
    kind = pattern.child_by_field_name("name")  # of `let a as E`, and of `is E`
    return [text(kind or pattern)]


def _clauses(nodes: Sequence[Node]) -> list[list[Node]]:
    found: list[list[Node]] = [[]]
    for one in nodes:
        if one.type == ",":
            found.append([])
        else:
            found[-1].append(one)
    return [clause for clause in found if clause]


def _statements(nodes: Sequence[Node]) -> list[Node]:
    return [inner for one in nodes if one.type == "statements" for inner in named(one)]


def _is_kept(macro: Node) -> bool:
    """Whether something goes on with the value of a macro."""
    above = macro.parent
    while above is not None and above.type in WORDS:
        above = above.parent
    return above is not None and above.type != "statements"


def _is_certain(call: Node) -> bool:
    """Whether a failure happens whenever the function runs."""
    above = call.parent
    while above is not None and above.type in PLAIN:
        above = above.parent
    return above is not None and above.type == "function_declaration"
