"""Checks as Rust writes them in a condition: `a == b && c.is_some()`, `matches!(a, Some(_))`, `let Some(x) = a`."""

import re
from collections.abc import Iterator
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import OPPOSITES, CheckFact
from testlist.kit.checking import NOTHING, at, is_certain, made, said, whole
from testlist.languages.rust.checks_tokens import last_of, matched, tree_of
from testlist.languages.rust.vocabulary_checks import (
    FUNCTIONS,
    OPERATORS,
    PATTERNS,
    STATES,
    TRUTHS,
)
from testlist.sandbox.syntax import named, text

INTEGER: Final = re.compile(r"(-?\d[\d_]*)(?:[iu](?:8|16|32|64|128|size))?")
STRINGS: Final = frozenset({"string_literal", "raw_string_literal"})
COMMENTS: Final = frozenset({"line_comment", "block_comment"})
#: functions that wrap a value that is written out
WRAPPING: Final = frozenset({"Some", "Ok", "Err", "String.from", "Box.new", "Cow.Borrowed"})
#: parts of one condition that are looked at, one inside of the other
DEEPEST: Final = 60


def inner(node: Node | None) -> list[Node]:
    """Named children without comments."""
    return [child for child in named(node) if child.type not in COMMENTS]


def arguments(call: Node) -> list[Node]:
    """What a call is given."""
    return inner(call.child_by_field_name("arguments"))


def name_of(call: Node) -> str:
    """`a.b` for a call of `a::b`; `self.a` for one of `Self::a` or `self.a`; empty for other methods."""
    function = call.child_by_field_name("function")
    while function is not None and function.type == "generic_function":
        function = function.child_by_field_name("function")
    if function is None or function.type not in ("identifier", "scoped_identifier", "field_expression"):
        return ""
    words = re.sub(r"::<.*?>(?=::|$)", "", "".join(text(function).split())).replace("::", ".")
    if function.type == "field_expression" and not words.startswith("self."):
        return ""
    words = re.sub(r"^Self\.", "self.", words) if words.startswith("Self.") else re.sub(r"^(?:super\.)+", "", words)
    return words if all(part.isidentifier() for part in words.split(".")) else ""


def method_of(call: Node) -> tuple[str, Node | None]:
    """The name of a method, and what it is called on."""
    function = call.child_by_field_name("function")
    if function is not None and function.type == "generic_function":
        function = function.child_by_field_name("function")
    if function is None or function.type != "field_expression":
        return "", None
    return text(function.child_by_field_name("field")), function.child_by_field_name("value")


def conditions(node: Node, where: int, *, negated: bool = False, depth: int = 0) -> Iterator[CheckFact]:
    """What has to hold, or must not."""
    kind, parts = node.type, inner(node)
    operator = text(node.child_by_field_name("operator")) if kind == "binary_expression" else ""
    if depth > DEEPEST:
        return
    if kind == "parenthesized_expression" and len(parts) == 1:
        yield from conditions(parts[0], where, negated=negated, depth=depth + 1)
    elif kind == "unary_expression" and text(node).startswith("!") and parts:
        yield from conditions(parts[0], where, negated=not negated, depth=depth + 1)
    elif (kind == "let_chain" and not negated) or operator == ("||" if negated else "&&"):
        for part in parts:
            yield from conditions(part, where, negated=negated, depth=depth + 1)
    elif operator in OPERATORS and len(parts) == 2:
        yield compared(parts[0], OPERATORS[operator], parts[1], where, negated=negated)
    elif kind == "let_condition":
        sides = node.child_by_field_name("value"), node.child_by_field_name("pattern")
        yield made(where, "matches", *sides, negated=negated, literal=literal)
    else:
        yield _true(node, where, negated=negated)


def compared(left: Node, operator: tuple[str, bool], right: Node, where: int, *, negated: bool = False) -> CheckFact:
    """One comparison; what is written out is what is expected, on whichever side it stands."""
    relation, turned = operator
    negated = negated != turned
    if negated and relation in OPPOSITES:
        relation, negated = OPPOSITES[relation], False
    if relation == "equal" and is_written(left) and not is_written(right):
        left, right = right, left
    if relation == "equal" and text(right) == "None":
        return made(where, "none", left, negated=negated, literal=literal)
    method, owner = method_of(left) if left.type == "call_expression" else ("", None)
    if relation == "equal" and method == "len" and owner is not None:
        return made(where, "length", owner, right, negated=negated, literal=literal)
    check = made(where, relation, left, right, negated=negated, literal=literal)
    if relation == "equal" and is_certain(literal(left), literal(right), negated=negated):
        check["idle"] = "constant"
    return check


def _true(node: Node, where: int, *, negated: bool) -> CheckFact:
    if node.type == "macro_invocation" and last_of(node) in PATTERNS and (tree := tree_of(node)) is not None:
        return made(where, "matches", *matched(tree), negated=negated, literal=literal)
    if node.type == "call_expression" and (check := _called(node, where, negated=negated)) is not None:
        return check
    check = made(where, "truthy", node, negated=negated, literal=literal)
    if literal(node) is (not negated):
        check["idle"] = "constant"
    return check


def _called(call: Node, where: int, *, negated: bool) -> CheckFact | None:
    """`a.is_some()`, `a.contains(b)`, `Arc::ptr_eq(a, b)`; None for any other call."""
    (method, owner), given = method_of(call), arguments(call)
    if owner is not None and not given and method in STATES:
        relation, turned = STATES[method]
        check = made(where, relation, owner, negated=negated != turned, literal=literal)
        function = call.child_by_field_name("function")
        if method == "is" and function is not None and function.type == "generic_function":
            check["expected"] = said(function.child_by_field_name("type_arguments"))[1:-1]
        return check if method != "is" or "expected" in check else None
    if owner is not None and len(given) == 1 and method in TRUTHS:
        return made(where, TRUTHS[method], owner, given[0], negated=negated, literal=literal)
    if method == "is_match" and len(given) == 1:
        return made(where, "matches", given[0], owner, negated=negated, literal=literal)
    owned, _, last = name_of(call).rpartition(".")
    if owner is None and len(given) == 2 and last in FUNCTIONS and (last != "eq" or owned.endswith("ptr")):
        return made(where, FUNCTIONS[last], given[0], given[1], negated=negated, literal=literal)
    return None


def is_written(node: Node, depth: int = 0) -> bool:
    """Whether a value is written out, also inside of `Some(…)` and its kin."""
    if depth > 5:
        return False
    if literal(node) is not NOTHING or node.type.endswith("_literal") or text(node) == "None":
        return True
    if node.type == "call_expression":
        given = arguments(node)
        return name_of(node) in WRAPPING and len(given) == 1 and is_written(given[0], depth + 1)
    wrapping = ("reference_expression", "array_expression", "tuple_expression")
    return node.type in wrapping and all(is_written(part, depth + 1) for part in inner(node))


def literal(node: Node) -> Any:
    """The value of a literal, also behind `&`; NOTHING for anything else."""
    while node.type == "reference_expression" and (under := at(inner(node), 0)) is not None:
        node = under
    raw = text(node)
    if node.type in STRINGS and raw.startswith(('"', "r")) and ("\\" not in raw or raw.startswith("r")):
        return raw.lstrip("r").strip("#")[1:-1]
    if node.type in ("integer_literal", "unary_expression") and (found := INTEGER.fullmatch(raw)):
        return whole(found[1].replace("_", ""))
    return {"true": True, "false": False}.get(raw, NOTHING) if node.type == "boolean_literal" else NOTHING
