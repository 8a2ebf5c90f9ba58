"""Checks as Go writes them: a condition under which a test fails, and calls of testify and gocheck."""

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING, at, made, said, whole
from testlist.languages.go.vocabulary_checks import (
    CHECKERS,
    FAILS,
    OPERATORS,
    OPPOSITES,
    SHOENIG,
    TESTIFY,
    TESTIFY_FAILS,
    TESTIFY_GIVERS,
    TESTIFY_OWNERS,
    TRUTHS,
)
from testlist.sandbox.syntax import line, named, text

STRINGS: Final = frozenset({"interpreted_string_literal", "raw_string_literal"})
#: what ends like an error and is none
STREAM: Final = "stderr"
TESTED: Final = re.compile(r"[tbfc]|tb|T|s\.T\(\)|suite\.T\(\)|testing")


def name_of(call: Node) -> str:
    """`a.b.c` of what a call calls; empty for what has no name."""
    function = call.child_by_field_name("function")
    words = said(function) if function is not None and function.type in ("identifier", "selector_expression") else ""
    return words if all(part.isidentifier() for part in words.split(".")) else ""


def arguments(call: Node) -> list[Node]:
    """What a call is given."""
    return list(named(call.child_by_field_name("arguments")))


def is_test(words: str, handles: Collection[str]) -> bool:
    """Whether words mean a test.  handles: names that a function is known to give to one."""
    return words in handles or TESTED.fullmatch(words) is not None


def fails(call: Node, handles: Collection[str]) -> bool:
    """Whether a call fails the test: `t.Fatal(…)`, `assert.Fail(t, …)`."""
    owner, _, last = name_of(call).rpartition(".")
    if last in FAILS and is_test(owner, handles):
        return True
    first = next(iter(arguments(call)), None) if last in TESTIFY_FAILS and owner in TESTIFY_OWNERS else None
    return first is not None and is_test(said(first), handles)


def conditions(node: Node, where: int, *, negated: bool = True) -> Iterator[CheckFact]:
    """What has to hold.  negated: the test fails under this condition, and not under its opposite.

    It may have thousands of parts: no recursion.
    """
    rest = [(node, negated)]
    while rest:
        node, negated = rest.pop()
        while node.type == "parenthesized_expression" and (inner := next(named(node), None)) is not None:
            node = inner
        operator = text(node.child_by_field_name("operator"))
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operand = node.child_by_field_name("operand")
        if node.type == "expression_list":  # of a `case`
            rest += [(one, negated) for one in reversed(list(named(node)))]
        elif operator == ("||" if negated else "&&") and left is not None and right is not None:
            rest += [(right, negated), (left, negated)]
        elif node.type == "unary_expression" and operator == "!" and operand is not None:
            rest.append((operand, not negated))
        elif operator in OPERATORS and left is not None and right is not None:
            yield _compared(left, operator if negated else OPPOSITES[operator], right, where)
        else:
            yield _true(node, where, negated=negated)


def _compared(left: Node, operator: str, right: Node, where: int) -> CheckFact:
    relation, negated = OPERATORS[operator]
    if relation == "equal" and text(right) == "nil":
        name = text(left).rpartition(".")[2].lower()
        is_error = name.endswith("err") and not name.endswith(STREAM)
        return made(where, "raises" if is_error else "none", left, negated=negated != is_error, literal=literal)
    if relation == "equal" and left.type == "call_expression" and name_of(left) == "len":
        return made(where, "length", at(arguments(left), 0) or left, right, negated=negated, literal=literal)
    return made(where, relation, left, right, negated=negated, literal=literal)


def _true(node: Node | None, where: int, *, negated: bool) -> CheckFact:
    if node is not None and node.type == "call_expression" and (relation := TRUTHS.get(name_of(node))):
        given = [*arguments(node), None, None]
        return made(where, relation, given[0], given[1], negated=negated, literal=literal)
    return made(where, "truthy", node, negated=negated, literal=literal)


def called(call: Node, shoenig: Collection[str], handles: Collection[str]) -> CheckFact | None:
    """The check that a call of a library is; None if it is none.

    shoenig: names of packages of shoenig/test; handles: see is_test.
    """
    return _testify(call, shoenig, handles) or _gocheck(call)


def _testify(call: Node, shoenig: Collection[str], handles: Collection[str]) -> CheckFact | None:
    function = call.child_by_field_name("function")
    if function is None or function.type != "selector_expression":
        return None
    field = text(function.child_by_field_name("field"))
    operand = function.child_by_field_name("operand")
    is_turned = text(operand) in shoenig
    known = SHOENIG if is_turned else TESTIFY
    meaning = known.get(field) or known.get(field.removesuffix("f"))
    if meaning is None or operand is None:
        return None
    given = arguments(call)
    is_function = bool(given) and is_test(said(given[0]), handles)
    giver = name_of(operand).rpartition(".")[2] if operand.type == "call_expression" else ""
    is_owned = (is_function and (is_turned or text(operand) in TESTIFY_OWNERS)) or giver in TESTIFY_GIVERS
    # a method of a suite, or of what `assert.New(t)` gave
    is_method = text(operand) in TESTIFY_OWNERS | {"s", "suite", "ts"} and field not in FAILS
    if not is_owned and not is_method:
        return None
    given = given[1:] if is_function else given
    subject, expected = at(given, meaning.subject), at(given, meaning.expected)
    return made(line(call), meaning.relation, subject, expected, negated=meaning.negated, literal=literal)


def _gocheck(call: Node) -> CheckFact | None:
    owner, _, last = name_of(call).rpartition(".")
    given = arguments(call)
    if owner != "c" or last not in {"Assert", "Check"} or len(given) < 2:
        return None
    relation, negated = CHECKERS.get(text(given[1]).rpartition(".")[2], ("custom", False))
    return made(line(call), relation, given[0], at(given, 2), negated=negated, literal=literal)


def literal(node: Node) -> Any:
    """The value of a literal; NOTHING for anything else."""
    raw = text(node)
    if node.type in STRINGS and "\\" not in raw:
        return raw[1:-1]
    if node.type == "int_literal":
        return whole(raw)
    return {"true": True, "false": False, "nil": None}.get(node.type, NOTHING)
