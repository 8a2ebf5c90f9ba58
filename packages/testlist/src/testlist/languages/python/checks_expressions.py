"""What an `assert` says: which relation between what, and whether it could ever be false."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import SHOWN, CheckFact
from testlist.kit.checking import NOTHING, made, said
from testlist.languages.python.checks_constants import is_true
from testlist.languages.python.facts_values import dotted_of
from testlist.languages.python.vocabulary_checks import OPERATORS, TRUTHS
from testlist.model import LARGEST
from testlist.sandbox.syntax import named, text

LITERALS: Final = frozenset(
    {"string", "concatenated_string", "integer", "float", "true", "false", "none", "unary_operator", "list", "tuple",
     "dictionary", "set", "parenthesized_expression"}
)  # fmt: skip
#: what `pytest.approx` is called
APPROX: Final = "approx"


def literal(node: Node | None) -> Any:
    """The value of a literal that JSON has; NOTHING for anything else."""
    if node is None or node.type not in LITERALS or len(node.text or b"") > SHOWN:
        return NOTHING
    try:
        value = ast.literal_eval(text(node).strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return NOTHING
    return value if _is_json(value) else NOTHING


def asserted(node: Node, line: int, *, negated: bool = False) -> Iterator[CheckFact]:
    """The checks of one condition: one for each part of an `and`.  negated: it must not hold.

    It may have thousands of parts: no recursion.
    """
    rest = [(node, negated)]
    while rest:
        node, negated = rest.pop()
        node = bare(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        joint = text(node.child_by_field_name("operator")) if node.type == "boolean_operator" else ""
        inner = node.child_by_field_name("argument") if node.type == "not_operator" else None
        if inner is not None:
            rest.append((inner, not negated))
        elif joint == ("or" if negated else "and") and left is not None and right is not None:
            rest += [(right, negated), (left, negated)]
        else:
            yield _check(node, line, negated=negated)


def bare(node: Node) -> Node:
    """The expression inside of its parentheses."""
    while node.type == "parenthesized_expression" and (inner := next(named(node), None)) is not None:
        node = inner
    return node


def _check(node: Node, line: int, *, negated: bool) -> CheckFact:
    if node.type == "comparison_operator" and len(operators := node.children_by_field_name("operators")) == 1:
        return _compared(node, " ".join(text(operators[0]).split()), line, negated=negated)
    relation = TRUTHS.get(dotted_of(node).rpartition(".")[2]) if node.type == "call" else None
    if relation is not None:
        return _called(node, relation, line, negated=negated)
    check = made(line, "truthy", negated=negated, subject=node, literal=literal)
    # a pair of a condition and a message is always true
    is_pair = node.type == "tuple" and node.named_child_count > 0 and not negated
    if is_pair or is_true("truthy", negated=negated, sides=values_of([node])):
        check["idle"] = "constant"
    return check


def _compared(node: Node, operator: str, line: int, *, negated: bool) -> CheckFact:
    relation, turned = OPERATORS.get(operator, ("truthy", False))
    left, right = (bare(side) for side in (*named(node), node, node)[:2])
    if relation == "contains":
        left, right = right, left
    elif relation == "equal" and literal(left) is not NOTHING and literal(right) is NOTHING:
        left, right = right, left  # the literal is what is expected, on whichever side it stands
    if relation == "identical" and right.type == "none":
        return made(line, "none", negated=negated != turned, subject=left, literal=literal)
    check = made(line, relation, negated=negated != turned, subject=left, expected=right, literal=literal)
    for side in (left, right):
        if side.type == "call" and dotted_of(side).rpartition(".")[2] == APPROX:
            _approximate(check, side, left if side is right else right)
    if is_true(relation, negated=negated != turned, sides=values_of([left, right])):
        check["idle"] = "constant"
    return check


def values_of(nodes: Sequence[Node]) -> list[Any]:
    """Values of literals, if all are; else none."""
    values = [literal(node) for node in nodes]
    return [] if any(one is NOTHING for one in values) else values


def _approximate(check: CheckFact, approx: Node, subject: Node) -> None:
    """`x == approx(1, abs=0.1)`."""
    plain, by_name = arguments(approx)
    check["relation"], check["subject"] = "approximate", said(subject)
    check.pop("value", None)
    if plain:
        _expect(check, plain[0])
    given = [f"{name}={said(by_name[name])}" for name in ("rel", "abs") if name in by_name]
    if given or len(plain) > 1:
        check["tolerance"] = ", ".join([*map(said, plain[1:]), *given])


def _called(node: Node, relation: str, line: int, *, negated: bool) -> CheckFact:
    """`isinstance(x, T)`, `x.startswith(y)`, `re.match(pattern, x)`."""
    plain, _ = arguments(node)
    function = node.child_by_field_name("function")
    owner = function.child_by_field_name("object") if function is not None and function.type == "attribute" else None
    pair: list[Node | None] = [*plain, None, None][:2]
    if relation in ("starts_with", "ends_with") and owner is not None:
        pair = [owner, pair[0]]
    elif relation == "matches":
        pair = [pair[1], pair[0]] if said(owner) == "re" else [pair[0], owner]
    return made(line, relation, negated=negated, subject=pair[0], expected=pair[1], literal=literal)


def arguments(call: Node) -> tuple[list[Node], dict[str, Node]]:
    """The arguments of a call: plain ones, and those by name."""
    plain, by_name = [], {}
    for child in named(call.child_by_field_name("arguments")):
        if child.type != "keyword_argument":
            plain.append(child)
        elif (value := child.child_by_field_name("value")) is not None:
            by_name[text(child.child_by_field_name("name"))] = value
    return plain, by_name


def _expect(check: CheckFact, node: Node) -> None:
    check["expected"] = said(node)
    value = literal(node)
    if value is not NOTHING:
        check["value"] = value


def _is_json(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_json(one) for one in value)
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_json(one) for name, one in value.items())
    # facts have no other numbers (sandbox/answers.py)
    return value is None or isinstance(value, str | bool) or (isinstance(value, int) and abs(value) <= LARGEST)
