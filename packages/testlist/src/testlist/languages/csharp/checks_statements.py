"""What the statements of a test in C# do that passes whatever the code does."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING
from testlist.kit.passing import Passing, proved
from testlist.languages.csharp.checks_calls import asserted, owned
from testlist.languages.csharp.checks_chains import fluent, should
from testlist.languages.csharp.checks_links import CALL, Link, arguments, links_of, literal, plain
from testlist.languages.csharp.vocabulary_chains import SHOULD
from testlist.sandbox.syntax import named, text

ASSERT: Final = "Assert"
THAT: Final = "That"
#: classes that are caught with all others, and what ends more than a test
ALL: Final = frozenset({"Exception", "System.Exception", "global::System.Exception"})
ESCAPES: Final = re.compile(rb"\b(?:Exit|FailFast|yield|unsafe|Multiple|MultipleAsync|Inconclusive)\b")
#: constraints that say all themselves, and that are given what is expected
CONSTRAINTS: Final = frozenset({"Is.True", "Is.False", "Is.Null", "Is.Not.Null", "Is.Not.True", "Is.Not.False"})
EQUAL: Final = frozenset({"Is.EqualTo", "Is.Not.EqualTo"})


class CSharpPassing(Passing):
    """One body.  catches: a check that failed is forgotten with its exception, as of all libraries but NUnit's.

    own: names that the file declares; None if its checks may be its own.
    """

    written = frozenset(
        {"string_literal", "string_literal_content", "escape_sequence", "verbatim_string_literal", "real_literal",
         "character_literal", "character_literal_content"}
    )  # fmt: skip

    def __init__(self, own: frozenset[str] | None, *, catches: bool) -> None:
        super().__init__()
        self.own, self.catches = own, catches

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal(node)

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:
        """`int a = 1;`, `a = 2;`, `_ = a;`."""
        if node.type == "empty_statement":
            return iter(())
        if node.type == "local_declaration_statement":
            return _declared(node)
        inner = next(named(node), None) if node.type == "expression_statement" else None
        if inner is None or inner.type != "assignment_expression":
            return None
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        is_local = text(left) in (*self.known, "_") and any(child.type == "=" for child in inner.children)
        return iter([(left, right)]) if is_local else None

    def leaves(self, node: Node) -> bool:
        """See Passing."""
        return node.type == "return_statement" and not any(True for _ in named(node))

    def swallows(self, node: Node) -> bool:
        """`try { … } catch { }`."""
        body, parts = node.child_by_field_name("body"), list(named(node))[1:]
        if node.type != "try_statement" or body is None or not self.catches:
            return False
        if not parts or any(one.type != "catch_clause" for one in parts) or ESCAPES.search(body.text or b""):
            return False
        is_quiet = all(not list(named(one.child_by_field_name("body"))) for one in parts)
        return is_quiet and any(map(_is_all, parts))

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:
        """See Passing."""
        condition, inner = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if node.type != "if_statement" or condition is None or inner is None or len(list(named(node))) != 2:
            return None
        return condition, list(named(inner)) if inner.type == "block" else [inner]

    def holds(self, node: Node) -> bool:
        """`Assert.Equal(1, 1)`, `Assert.That(1, Is.EqualTo(1))`, `1.Should().Be(1)`, `1.ShouldBe(1)`."""
        call = next(named(node), None) if node.type == "expression_statement" else None
        if call is None or call.type != CALL or self.own is None:
            return False
        begin, links = links_of(call)
        if literal(begin) is not NOTHING:
            return _is_fluent(begin, links, self.own)
        owner, link = owned(begin, links)
        if link is None or links != [link] or plain(begin) != ASSERT:
            return False
        return _is_asserted(owner, link)


def _is_fluent(begin: Node, links: Sequence[Link], own: frozenset[str]) -> bool:
    """Whether a chain on a literal checks it alone, and holds."""
    last = links[-1] if links else None
    if last is None or any(literal(one) is NOTHING for one in last.given) or last.word in own:
        return False
    if len(links) == 2 and links[0].word == SHOULD and links[0].called and not links[0].given:
        return _are_proved(list(fluent(links, 0)), begin)
    return len(links) == 1 and _are_proved(list(should(begin, links, 0, own)), begin)


def _is_asserted(owner: str, link: Link) -> bool:
    """Whether one call checks literals, is given nothing else, and holds."""
    checks, given = list(asserted(owner, link, 0, value_first=None)), link.given
    if link.word == THAT:
        is_written = bool(given) and literal(given[0]) is not NOTHING and all(map(_is_constraint, given[1:]))
        return is_written and len(given) < 3 and _are_proved(checks, given[0])
    is_written = all(literal(one) is not NOTHING for one in given)
    return is_written and bool(checks) and all(check.get("idle") == "constant" for check in checks)


def _are_proved(checks: Sequence[CheckFact], subject: Node) -> bool:
    """Whether there are checks, and each is known to hold of a subject that is written out."""
    return bool(checks) and all(
        one["relation"] != "identical"  # numbers are each time other objects
        and proved(
            one["relation"],
            [literal(subject), *([one["value"]] if "value" in one else [])],
            negated=one.get("negated", False),
        )
        for one in checks
    )


def _is_constraint(node: Node) -> bool:
    if node.type != CALL:
        return "".join(text(node).split()) in CONSTRAINTS
    given = arguments(node)
    is_equal = "".join(text(node.child_by_field_name("function")).split()) in EQUAL
    return is_equal and len(given) == 1 and literal(given[0]) is not NOTHING


def _is_all(clause: Node) -> bool:
    """Whether a clause catches whatever is thrown."""
    parts = [one for one in named(clause) if one.type != "block"]
    if not parts:
        return True
    is_plain = len(parts) == 1 and parts[0].type == "catch_declaration"
    return is_plain and "".join(text(parts[0].child_by_field_name("type")).split()) in ALL


def _declared(node: Node) -> Iterator[tuple[Node | None, Node | None]]:
    """Names and values; a value that is not found gives a pair that nobody knows."""
    for declaration in named(node):
        if declaration.type == "modifier":
            continue
        for one in named(declaration):
            if one.type == "variable_declarator":
                inner = list(named(one))
                yield one.child_by_field_name("name"), inner[-1] if len(inner) > 1 else None
