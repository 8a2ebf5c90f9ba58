"""What the statements of a test in Java or Kotlin do that passes whatever the code does."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.checking import NOTHING
from testlist.kit.passing import Passing, proved
from testlist.languages.jvm.checks_asserts import asserted
from testlist.languages.jvm.checks_calls import Call, call_of, chain, literal, parts
from testlist.languages.jvm.checks_chains import chained
from testlist.languages.jvm.checks_conditions import conditions
from testlist.languages.jvm.checks_matchers import should
from testlist.languages.jvm.checks_origins import Origins
from testlist.sandbox.syntax import text

#: the type that is caught with all others, and what ends more than a test
THROWABLE: Final = frozenset({"Throwable", "java.lang.Throwable", "kotlin.Throwable"})
ESCAPES: Final = re.compile(rb"\b(?:exit|halt|exitProcess)\b")
TRIES: Final = frozenset({"try_statement", "try_expression"})
CATCHES: Final = frozenset({"catch_clause", "catch_block"})
BRANCHES: Final = frozenset({"if_statement", "if_expression"})
BLOCK: Final = "block"


class JvmPassing(Passing):
    """One body.  origins: where the functions of its file come from."""

    written = frozenset(
        {"string_literal", "string_fragment", "string_content", "escape_sequence", "character_literal",
         "character_escape_seq", "decimal_floating_point_literal", "float_literal", "hex_integer_literal"}
    )  # fmt: skip

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self.origins = origins

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal(node)

    def value(self, node: Node, depth: int = 0) -> Any:
        """See Passing; the grammar takes `"$a"` of Kotlin for a text."""
        if node.type == "string_literal" and any(text(child) == "$" for child in node.named_children):
            return NOTHING
        return super().value(node, depth)

    def given(self, node: Node) -> Iterator[tuple[Node | None, Node | None]] | None:
        """`int a = 1;`, `val a = 1`, `a = 2`."""
        if node.type == "local_variable_declaration":
            return _java(node)
        if node.type == "property_declaration":
            return _kotlin(node)
        inner = parts(node)[0] if node.type == "expression_statement" and parts(node) else node
        if inner.type in ("assignment_expression", "assignment") and any(one.type == "=" for one in inner.children):
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if left is not None and text(left) in self.known:
                return iter([(left, right)])
        return None

    def leaves(self, node: Node) -> bool:
        """See Passing."""
        return node.type in ("return_statement", "return_expression") and text(node) in ("return", "return;")

    def swallows(self, node: Node) -> bool:
        """`try { … } catch (Throwable t) { }`."""
        inner = parts(node) if node.type in TRIES else []
        if not inner or inner[0].type != BLOCK or any(one.type not in CATCHES for one in inner[1:]):
            return False
        is_quiet = all(not _statements(one) for one in inner[1:])
        caught = {text(kind) for one in inner[1:] for kind in _kinds(one)}
        return is_quiet and bool(caught & THROWABLE) and not ESCAPES.search(inner[0].text or b"")

    def branch(self, node: Node) -> tuple[Node, Sequence[Node]] | None:
        """See Passing."""
        condition = node.child_by_field_name("condition") if node.type in BRANCHES else None
        if condition is None or any(child.type == "else" for child in node.children):
            return None
        inner = [one for one in parts(node) if one.id != condition.id]
        return condition, [one for part in inner for one in (parts(part) if part.type == BLOCK else [part])]

    def holds(self, node: Node) -> bool:
        """`assertEquals(1, 1)`, `assertThat(1).isEqualTo(1)`, `1 shouldBe 1`, `assert true`."""
        inner = parts(node)[0] if node.type == "expression_statement" and parts(node) else node
        call = call_of(inner)
        if call is None:
            given = parts(node) if node.type == "assert_statement" else []
            is_plain = bool(given) and all(literal(one) is not NOTHING for one in given)
            return is_plain and all("idle" in one for one in conditions(given[0], node))
        links = chain(call)
        if not self._is_written(links):
            return False
        return self._is_proved(links) if len(links) > 1 or call.is_infix else self._is_asserted(call)

    def _is_written(self, links: Sequence[Call]) -> bool:
        """Whether a chain begins with a function of a library, and is given literals alone."""
        first = links[0]
        owner = text(first.owner) if first.owner is not None and not first.is_infix else ""
        is_plain = owner.isidentifier() or not owner
        is_bare = all(one.block is None and one.kind is None and one.matcher is None for one in links)
        given = [*(one for link in links for one in link.given), *([first.owner] if first.is_infix else [])]
        is_literal = all(one is not None and literal(one) is not NOTHING for one in given)
        return is_plain and is_bare and is_literal and self.origins.is_certain(first.name, owner)

    def _is_asserted(self, call: Call) -> bool:
        given = [*conditions(call.given[0], call.node)] if call.name == "assert" and call.given else []
        found = given or asserted(call, self.origins)
        return bool(found) and all(check.get("idle") == "constant" for check in found)

    def _is_proved(self, links: Sequence[Call]) -> bool:
        """Whether all checks of a chain, or of an infix call, are of its first value, and hold."""
        last = links[-1]
        if last.is_infix:
            check = should(last, self.origins)
            found: Iterable[Any] = [check] if check is not None else []
        else:
            found = chained(links) if len(links[0].given) == 1 else []
        value = literal(last.owner) if last.is_infix and last.owner is not None else _first(links)
        checks = list(found)
        return len(checks) == (1 if last.is_infix else len(links) - 1) and all(
            not (check["relation"] == "identical" and type(value) is int)
            and proved(
                check["relation"],
                [value, *([check["value"]] if "value" in check else [])],
                negated=check.get("negated", False),
            )
            for check in checks
        )


def _first(links: Sequence[Call]) -> Any:
    return literal(links[0].given[0]) if links[0].given else NOTHING


def _java(node: Node) -> Iterator[tuple[Node | None, Node | None]]:
    for one in parts(node):
        if one.type == "variable_declarator":
            yield one.child_by_field_name("name"), one.child_by_field_name("value")


def _kotlin(node: Node) -> Iterator[tuple[Node | None, Node | None]]:
    """One name and its value; what cannot be read gives a pair that nobody knows."""
    inner = [one for one in parts(node) if one.type != "modifiers"]
    has_value = any(child.type == "=" for child in node.children)
    if has_value and len(inner) == 2 and inner[0].type == "variable_declaration":
        yield next(iter(parts(inner[0])), None), inner[1]
    else:
        yield node, node


def _statements(catch: Node) -> list[Node]:
    block = next((one for one in catch.named_children if one.type == BLOCK), None)
    return parts(block)


def _kinds(catch: Node) -> Iterator[Node]:
    """The types that a clause catches."""
    for one in parts(catch):
        if one.type == "catch_formal_parameter":
            yield from (kind for part in parts(one) if part.type == "catch_type" for kind in parts(part))
        elif one.type == "user_type":
            yield one
