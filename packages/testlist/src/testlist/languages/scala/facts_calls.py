"""Calls in the bodies of Scala classes that may declare tests: by a word, an operator behind a title, or as a text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.scala.facts_chains import (
    Chain,
    aspect,
    chain,
    first,
    has_parameters,
    held,
    is_block,
    receiver,
    says,
)
from testlist.languages.scala.facts_examples import examples
from testlist.languages.scala.facts_headings import Heading, headed, parts
from testlist.languages.scala.facts_places import place
from testlist.languages.scala.facts_titles import Title, title
from testlist.languages.scala.shape import CallFact
from testlist.languages.scala.vocabulary import (
    ASPECT,
    GROUPS,
    HOLDING,
    JOINS,
    LOOPS,
    STRICT,
    TAGGED,
    TESTS,
    TITLED,
    VERBS,
)
from testlist.sandbox.syntax import named, text

#: calls, blocks and operators in each other that are looked into
DEEPEST: Final = 60
#: operators in a row, as `"a" ^ "b" ^ "c"`
LONGEST: Final = 2_000
INNER: Final = frozenset(
    {"block", "indented_block", "colon_argument", "case_block", "indented_cases", "case_clause", "lambda_expression",
     "parenthesized_expression", "arguments", "try_expression", "catch_clause", "finally_clause", "vararg",
     "tuple_expression", "ascription_expression", "return_expression"}
)  # fmt: skip
#: what a test with others in it has
GROUPED: Final = re.compile(rb'"\s*+(?:in\b|>>)')
VALUES: Final = frozenset({"val_definition", "var_definition"})
REPEATS: Final = frozenset({"for_expression", "while_expression", "do_while_expression"})
BRANCHES: Final = frozenset({"if_expression", "match_expression"})
#: words that need no body
ALONE: Final = frozenset({"checkAll"})
#: lists of values that others need, and a word that is only known elsewhere
LISTS: Final = 2
Read = list[CallFact] | None


class Place(NamedTuple):
    """Where calls are looked for.  titles, bodies: what the method around asks for, as patterns."""

    depth: int = 0
    loop: bool = False
    when: bool = False
    titles: re.Pattern[str] | None = None
    bodies: re.Pattern[str] | None = None

    def inside(self, *, loop: bool = False, when: bool = False) -> "Place":
        """One step further."""
        return self._replace(depth=self.depth + 1, loop=self.loop or loop, when=self.when or when)


@dataclass(slots=True)
class Walk:
    """The calls of one class.  nests: tests may stand in tests; passes: see ClassFact."""

    nests: bool
    passes: dict[str, str] = field(default_factory=dict)
    method: str = ""

    def of(self, nodes: Sequence[Node], at: Place) -> list[CallFact]:
        """What some expressions declare; the grammar ends one where a line ends with an operator."""
        found: list[CallFact] = []
        torn: Node | None = None
        for node in nodes:
            mended = [] if torn is None else self.mended(torn, node, at)
            found += mended or self.entries(node, at)
            torn = node if node.type == "postfix_expression" and node.named_child_count == 2 else None
        return found

    def mended(self, torn: Node, node: Node, at: Place) -> list[CallFact]:
        """An expression of two parts: `"adds" in` and a body, `"adds" taggedAs` and `Slow in {}`."""
        left, operator = torn.named_children
        word = text(operator)
        if word in TESTS:
            found = self.operated(torn, headed(left), word, node, at)
        elif word in VERBS | {TAGGED}:
            one, sign, right = parts(node)
            if one is None or right is None or sign not in TESTS:
                return []
            heading = headed(left) if word == TAGGED else headed(one).under(left, word)
            found = self.operated(torn, heading, sign, right, at)
        else:
            return []
        for one_fact in found:
            one_fact["end"] = place(node)["end"]
        return found

    def entries(self, node: Node, at: Place) -> list[CallFact]:
        """What one expression declares."""
        read = {
            "call_expression": self.call,
            "infix_expression": self.infix,
            "assignment_expression": self.assigned,
        }.get(node.type)
        if at.depth > DEEPEST:
            return []
        if read is not None:
            return read(node, at)
        return examples(node) if node.type == "interpolated_string_expression" else self.inner(node, at)

    def inner(self, node: Node, at: Place) -> list[CallFact]:
        """What expressions in another one declare."""
        kind = node.type
        if kind in BRANCHES:
            return self.of([*named(node)][1:], at.inside(when=True))
        if kind in REPEATS:
            return self.of([*named(node)], at.inside(loop=True))
        if kind == "function_definition" and (body := node.child_by_field_name("body")) is not None:
            return self.entries(body, at.inside(loop=has_parameters(node)))
        if kind in VALUES and (value := node.child_by_field_name("value")) is not None:
            return self.entries(value, at.inside())
        return self.of([*named(node)], at.inside()) if kind in INNER else []

    def assigned(self, node: Node, at: Place) -> list[CallFact]:
        """`property("adds") = forAll {}`."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        found = chain(left) if left is not None and left.type == "call_expression" else None
        one = None if found is None else first(found.lists)
        if right is None or found is None or one is None or found.name not in TITLED:
            return self.of([*named(node)], at.inside())
        return self.test(node, found.name, title(one), [right], at)

    def call(self, node: Node, at: Place) -> list[CallFact]:
        """`test("adds") {}`, `describe("a cart") {}`, `carts.foreach {}` and others."""
        found = chain(node)
        before = found.behind or (found.on if found.name in TESTS | GROUPS else None)
        if before is not None and found.lists:
            return self.operated(node, headed(before), found.name, found.lists[-1], at)
        one = first(found.lists)
        said = None if one is None else title(one)
        if found.name in HOLDING and said is not None:
            return [self.group(node, found.name, said, found.lists, at)]
        if found.name in TITLED and said is not None and (len(found.lists) >= LISTS or found.name in ALONE):
            return self.test(node, found.name, said, found.lists[1:], at, on=receiver(found))
        inner = self.of(found.lists, at.inside(loop=found.name in LOOPS))
        if found.on is not None:
            inner = [*self.entries(found.on, at.inside()), *inner]
        if said is not None and found.name and len(found.lists) >= LISTS and (said.written or is_part(one, at.titles)):
            return self.unknown(node, found, said, inner, at)
        return inner

    def unknown(self, node: Node, found: Chain, said: Title, inner: list[CallFact], at: Place) -> list[CallFact]:
        """A call that declares a test if a method of the repository makes it do so."""
        if at.depth and not at.bodies and not is_block(found.lists[-1]) and not inner:
            return []
        return self.test(node, found.name, said, found.lists[1:], at, on=receiver(found), inner=inner)

    def group(self, node: Node, word: str, said: Title, lists: Sequence[Node], at: Place) -> CallFact:
        """What holds tests."""
        fact = self.fact(node, word, said, at)
        fact["calls"] = self.of(lists, at.inside())
        return fact

    def fact(self, node: Node, word: str, said: Title, at: Place) -> CallFact:
        """A call by its title."""
        start = place(node)
        fact: CallFact = {
            "line": start["line"],
            "column": start["column"],
            "end": start["end"],
            "word": word,
            "title": said.text,
        }
        if not said.known:
            fact["open"] = True
        if at.loop:
            fact["loop"] = True
        if at.when:
            fact["when"] = True
        if said.marks:
            fact["marks"] = [*said.marks]
        return fact

    def test(
        self, node: Node, word: str, said: Title, bodies: Sequence[Node], at: Place, *, on: str = "", inner: Read = None
    ) -> list[CallFact]:
        """A test, unless the method around passes the title and the body on: then its calls are.

        inner: what bodies declare, if that was read: a second time on each level doubles the work with each.
        """
        if at.bodies and is_part(node, at.titles, said) and any(at.bodies.search(text(one)) for one in bodies):
            self.passes.setdefault(self.method, word)
            return []
        fact = self.fact(node, word, said, at)
        marks = [*said.marks, *(says(bodies[-1]) if bodies else ())]
        if marks:
            fact["marks"] = marks
        if on:
            fact["on"] = on
        if self.nests or inner is not None:
            fact["calls"] = self.of(bodies, at.inside()) if inner is None else inner
        return [fact]

    def infix(self, node: Node, at: Place) -> list[CallFact]:
        """`"adds" in {}`, `"a cart" should {}`, `test("adds") @@ ignore`, `suites + more`."""
        left, operator, right = parts(node)
        if left is None or right is None:
            return []
        if operator == ASPECT:
            return marked(self.entries(left, at.inside()), aspect(right))
        if operator in JOINS:
            return self.joined(node, at)
        if operator in ("of", "like"):
            return self.subject(node, left, right if operator == "of" else left, at)
        if operator in TESTS or operator in GROUPS:
            return self.operated(node, headed(left), operator, right, at)
        inner = at.inside(loop=operator in LOOPS)
        return [*self.entries(left, at.inside()), *self.entries(right, inner)]

    def joined(self, node: Node, at: Place) -> list[CallFact]:
        """Both sides of operators in a row, which stand in each other."""
        sides: list[Node] = []
        for _ in range(LONGEST):
            left, operator, right = parts(node)
            if left is None or right is None or operator not in JOINS:
                break
            sides.append(right)
            node = left
        return self.of([node, *reversed(sides)], at.inside())

    def subject(self, node: Node, left: Node, right: Node, at: Place) -> list[CallFact]:
        """`behavior of "a cart"`, and `"a cart" should behave like full(cart)`: what `it` stands for from there on."""
        inner, operator, _ = parts(right)
        if right is left and (inner is None or operator not in VERBS | {"behave"}):
            return []
        while right.type == "infix_expression" and (inner := parts(right)[0]) is not None:
            right = inner
        if right is not left and text(left) != "behavior":
            return []
        said = title(right)
        return [self.fact(node, "behavior", said, at)] if said.written else []

    def operated(self, node: Node, heading: Heading, operator: str, right: Node, at: Place) -> list[CallFact]:
        """What an operator makes of the title before it and the body behind it."""
        said, block = heading.said, is_block(right)
        if operator in GROUPS:
            body = right if block else held(right)
            if body is None or not (said.written or heading.name):
                return [] if said.written else self.entries(right, at.inside())
            verb = operator if block else f"{operator} {chain(right).name}"
            return [{**self.group(node, f"{operator} {{}}", said, [body], at), "verb": verb}]
        if not said.written and (operator in STRICT or not block):
            return []
        if operator == "is" and "=pending" not in says(right):
            return []
        facts = self.test(node, heading.word or operator, said, [right], at)
        for fact in facts:
            if heading.verb:
                fact["subject"], fact["verb"] = heading.subject, heading.verb
            if operator in ("-", ">>") and block and not self.nests:
                fact["calls"] = self.of([right], at.inside())
            elif operator == "in" and block and not self.nests and GROUPED.search(right.text or b""):
                inner = self.of([right], at.inside())
                if holds_tests(inner):
                    fact["calls"] = inner
        return facts


def marked(calls: list[CallFact], mark: str) -> list[CallFact]:
    """Calls with one more mark."""
    for call in calls:
        call.setdefault("marks", []).append(mark)
    return calls


def is_part(node: Node | None, names: re.Pattern[str] | None, said: Title | None = None) -> bool:
    """Whether a title is, or has a part, that the method around asks for."""
    if names is None or node is None:
        return False
    return names.search(text(node) if said is None else said.text) is not None and not (said and said.known)


def holds_tests(calls: Sequence[CallFact]) -> bool:
    """Whether tests with an operator stand in the body of one: such a test is a group in specs2."""
    return any(call["word"] in ("in", ">>") or holds_tests(call.get("calls", ())) for call in calls)
