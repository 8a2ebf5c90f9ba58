"""Checks as Go writes them: a condition under which a test fails, and calls of testify, Gomega and gocheck."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import SHOWN, CheckFact
from testlist.languages.go.vocabulary_checks import (
    CHECKERS,
    FAILS,
    GOMEGA,
    LINKS,
    MATCHERS,
    OPERATORS,
    TESTIFY,
    TESTIFY_GIVERS,
    TESTIFY_OWNERS,
    TRUTHS,
)
from testlist.model import LARGEST
from testlist.sandbox.syntax import line, named, text

STRINGS: Final = frozenset({"interpreted_string_literal", "raw_string_literal"})
TESTED: Final = re.compile(r"[tbfc]|tb|T|s\.T\(\)|suite\.T\(\)|testing")


def said(node: Node | None) -> str:
    """Source of an expression on one line, cut."""
    return " ".join(text(node).split())[:SHOWN]


def name_of(call: Node) -> str:
    """`a.b.c` of what a call calls; empty for what has no name."""
    function = call.child_by_field_name("function")
    words = said(function) if function is not None and function.type in ("identifier", "selector_expression") else ""
    return words if all(part.isidentifier() for part in words.split(".")) else ""


def arguments(call: Node) -> list[Node]:
    """What a call is given."""
    return list(named(call.child_by_field_name("arguments")))


def fails(call: Node) -> bool:
    """Whether a call fails the test: `t.Fatal(…)`."""
    owner, _, last = name_of(call).rpartition(".")
    return last in FAILS and TESTED.fullmatch(owner) is not None


def conditions(node: Node, where: int) -> Iterator[CheckFact]:
    """What has to hold, as the test fails under this condition."""
    while node.type == "parenthesized_expression" and (inner := next(named(node), None)) is not None:
        node = inner
    operator = text(node.child_by_field_name("operator")) if node.type == "binary_expression" else ""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if operator == "||" and left is not None and right is not None:
        yield from conditions(left, where)
        yield from conditions(right, where)
    elif operator in OPERATORS and left is not None and right is not None:
        yield _compared(left, operator, right, where)
    elif node.type == "unary_expression" and text(node.child_by_field_name("operator")) == "!":
        yield _true(node.child_by_field_name("operand"), where, negated=False)
    else:
        yield _true(node, where, negated=True)


def _compared(left: Node, operator: str, right: Node, where: int) -> CheckFact:
    relation, negated = OPERATORS[operator]
    if relation == "equal" and text(right) == "nil":
        is_error = text(left).rpartition(".")[2].lower().endswith("err")
        return made(where, "raises" if is_error else "none", left, negated=negated != is_error)
    if relation == "equal" and left.type == "call_expression" and name_of(left) == "len":
        return made(where, "length", next(iter(arguments(left)), left), right, negated=negated)
    return made(where, relation, left, right, negated=negated)


def _true(node: Node | None, where: int, *, negated: bool) -> CheckFact:
    if node is not None and node.type == "call_expression" and (relation := TRUTHS.get(name_of(node))):
        given = [*arguments(node), None, None]
        return made(where, relation, given[0], given[1], negated=negated)
    return made(where, "truthy", node, negated=negated)


def called(call: Node) -> CheckFact | None:
    """The check that a call of a library is; None if it is none."""
    return _testify(call) or _gomega(call) or _gocheck(call)


def _testify(call: Node) -> CheckFact | None:
    function = call.child_by_field_name("function")
    if function is None or function.type != "selector_expression":
        return None
    field = text(function.child_by_field_name("field"))
    meaning = TESTIFY.get(field) or TESTIFY.get(field.removesuffix("f"))
    operand = function.child_by_field_name("operand")
    if meaning is None or operand is None:
        return None
    given = arguments(call)
    is_function = bool(given) and TESTED.fullmatch(said(given[0])) is not None
    giver = name_of(operand).rpartition(".")[2] if operand.type == "call_expression" else ""
    is_owned = (is_function and text(operand) in TESTIFY_OWNERS) or giver in TESTIFY_GIVERS
    # a method of a suite, or of what `assert.New(t)` gave
    is_method = text(operand) in TESTIFY_OWNERS | {"s", "suite", "ts"} and field not in FAILS
    if not is_owned and not is_method:
        return None
    given = given[1:] if is_function else given
    subject, expected = _at(given, meaning.subject), _at(given, meaning.expected)
    return made(line(call), meaning.relation, subject, expected, negated=meaning.negated)


def _gomega(call: Node) -> CheckFact | None:
    """`Expect(a).To(Equal(b))`, `Expect(a).NotTo(HaveOccurred())`."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "selector_expression":
        return None
    link, begun = text(function.child_by_field_name("field")), function.child_by_field_name("operand")
    if link not in LINKS or begun is None or begun.type != "call_expression":
        return None
    if name_of(begun).rpartition(".")[2] not in GOMEGA:
        return None
    matcher = next(iter(arguments(call)), None)
    meaning = (
        MATCHERS.get(name_of(matcher).rpartition(".")[2])
        if matcher is not None and matcher.type == "call_expression"
        else None
    )
    subject = next(iter(arguments(begun)), None)
    if meaning is None or matcher is None:
        return made(line(call), "custom", subject, matcher, negated=LINKS[link])
    return made(
        line(call),
        meaning.relation,
        subject,
        _at(arguments(matcher), meaning.expected),
        negated=LINKS[link] != meaning.negated,
    )


def _gocheck(call: Node) -> CheckFact | None:
    owner, _, last = name_of(call).rpartition(".")
    given = arguments(call)
    if owner != "c" or last not in {"Assert", "Check"} or len(given) < 2:
        return None
    relation, negated = CHECKERS.get(text(given[1]).rpartition(".")[2], ("custom", False))
    return made(line(call), relation, given[0], _at(given, 2), negated=negated)


def _at(given: Sequence[Node], place: int | None) -> Node | None:
    return given[place] if place is not None and place < len(given) else None


def made(
    where: int, relation: str, subject: Node | None, expected: Node | None = None, *, negated: bool = False
) -> CheckFact:
    """One check."""
    check: CheckFact = {"line": where, "relation": relation}
    if negated:
        check["negated"] = True
    if subject is not None:
        check["subject"] = said(subject)
    if expected is not None:
        check["expected"] = said(expected)
        _valued(check, expected)
    return check


def _valued(check: CheckFact, node: Node) -> None:
    raw = text(node)
    if node.type in STRINGS and "\\" not in raw and len(raw) <= SHOWN:
        check["value"] = raw[1:-1]
    elif node.type == "int_literal" and raw.isdigit() and int(raw) <= LARGEST:
        check["value"] = int(raw)
    elif node.type in ("true", "false"):
        check["value"] = node.type == "true"
    elif node.type == "nil":
        check["value"] = None
