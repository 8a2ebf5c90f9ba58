"""Checks as Swift writes them in a condition: `a == b && c != nil`, `let x = a`, `case .b = a`."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import OPPOSITES, CheckFact
from testlist.kit.checking import NOTHING, Part, is_certain, made, whole
from testlist.languages.swift.checks_calls import arguments, bare, suffix_of
from testlist.languages.swift.vocabulary_checks import OPERATORS, TRUTHS
from testlist.sandbox.syntax import named, parse, text

SWIFT: Final = "swift"
#: operators between two sides, whose order of binding the grammar does not know
BINARY: Final = frozenset(
    {"equality_expression", "comparison_expression", "conjunction_expression", "disjunction_expression",
     "infix_expression", "additive_expression", "multiplicative_expression", "nil_coalescing_expression",
     "bitwise_operation", "range_expression"}
)  # fmt: skip
#: parts of one condition that are looked at, one inside of the other
DEEPEST: Final = 40


def part(nodes: Sequence[Node], whole: Node) -> Part:
    """Some operands in a row with what is between them.  whole: the node that holds them."""
    if len(nodes) == 1:
        only = bare(nodes[0])
        return Part(only.text or b"", only)
    begin = whole.start_byte
    return Part((whole.text or b"")[nodes[0].start_byte - begin : nodes[-1].end_byte - begin])


def operands(node: Node, depth: int = 0) -> list[Node]:
    """Operands and operators in their order."""
    if node.type not in BINARY or node.child_count != 3 or depth > DEEPEST:
        return [node]
    left, operator, right = node.children
    return [*operands(left, depth + 1), operator, *operands(right, depth + 1)]


def conditions(node: Node, where: int, *, negated: bool = False) -> Iterator[CheckFact]:
    """What has to hold, or must not."""
    yield from _conditions(operands(bare(node)), node, where, negated=negated, depth=0)


def _conditions(row: list[Node], whole: Node, where: int, *, negated: bool, depth: int) -> Iterator[CheckFact]:
    splits = _split(row, "||" if negated else "&&")
    is_mixed = any(text(one) == ("&&" if negated else "||") for one in row[1::2])
    if len(row) == 1:
        yield from _single(bare(row[0]), where, negated=negated, depth=depth)
    elif len(splits) > 1 and (negated or not is_mixed) and not (negated and is_mixed):
        for one in splits:
            yield from _conditions(one, whole, where, negated=negated, depth=depth + 1)
    elif (at := next((n for n, one in enumerate(row) if n % 2 and text(one) in OPERATORS), 0)) and not is_mixed:
        yield compared(part(row[:at], whole), text(row[at]), part(row[at + 1 :], whole), where, negated=negated)
    else:
        yield made(where, "truthy", part(row, whole), negated=negated, literal=literal)


def _split(row: list[Node], operator: str) -> list[list[Node]]:
    found: list[list[Node]] = [[]]
    for place, one in enumerate(row):
        if place % 2 and text(one) == operator:
            found.append([])
        else:
            found[-1].append(one)
    return found


def _single(node: Node, where: int, *, negated: bool, depth: int) -> Iterator[CheckFact]:
    """A condition without operators between two sides."""
    inner, turned = _inside(node)
    if inner is not None and depth < DEEPEST:
        yield from _conditions(operands(inner), inner, where, negated=negated != turned, depth=depth + 1)
        return
    whole = Part(node.text or b"", node)
    check = made(where, "truthy", whole, negated=negated, literal=literal)
    if node.type == "check_expression":
        sides = [Part(one.text or b"", one) for one in named(node)][:2]
        check = made(where, "type", *sides, negated=negated, literal=literal)
    elif node.type == "navigation_expression" and suffix_of(node)[1] == "isEmpty":
        check = made(where, "empty", _part(suffix_of(node)[0]), negated=negated, literal=literal)
    elif node.type == "call_expression" and (owner := suffix_of(node.named_child(0)))[1] in TRUTHS:
        given = arguments(node)
        if len(given) == 1 and given[0].label in ("", "with"):
            sides = [_part(owner[0]) or whole, _part(given[0].value) or whole]
            check = made(where, TRUTHS[owner[1]], *sides, negated=negated, literal=literal)
    elif literal(whole) is (not negated):
        check["idle"] = "constant"
    yield check


def _part(node: Node | None) -> Part | None:
    return None if node is None else Part(node.text or b"", node)


def _inside(node: Node) -> tuple[Node | None, bool]:
    """What stands in parentheses, or behind `!`, which the grammar takes for a part of what is called; and whether."""
    values = [*named(node)]
    if node.type == "tuple_expression" and len(values) == 1:
        return bare(values[0]), False
    raw = node.text or b""
    if raw.startswith(b"!") and node.type in ("prefix_expression", "call_expression", "navigation_expression"):
        call = next(named(parse(b"f(" + raw[1:] + b")", SWIFT)), None)
        given = arguments(call) if call is not None and call.type == "call_expression" else []
        return (given[0].value, True) if len(given) == 1 else (None, True)
    return None, False


def compared(left: Part, operator: str, right: Part, where: int, *, negated: bool = False) -> CheckFact:
    """One comparison; what is written out is what is expected, on whichever side it stands."""
    relation, turned = OPERATORS[operator]
    negated = negated != turned
    if negated and relation in OPPOSITES:
        relation, negated = OPPOSITES[relation], False
    if relation in ("equal", "identical", "matches") and is_written(left) and not is_written(right):
        left, right = right, left
    if relation == "equal" and right.text == b"nil":
        return made(where, "none", left, negated=negated, literal=literal)
    owner, field = suffix_of(left.only)
    if relation == "equal" and field == "count" and (counted := _part(owner)) is not None:
        return made(where, "length", counted, right, negated=negated, literal=literal)
    check = made(where, relation, left, right, negated=negated, literal=literal)
    if relation == "equal" and is_certain(literal(left), literal(right), negated=negated):
        check["idle"] = "constant"
    return check


def is_written(side: Part, depth: int = 0) -> bool:
    """Whether a value is written out, also as elements of a list."""
    node = side.only
    if node is None or depth > 5:
        return False
    if node.type in ("array_literal", "dictionary_literal"):
        return all(is_written(Part(one.text or b"", one), depth + 1) for one in named(node))
    return literal(side) is not NOTHING or node.type == "real_literal" or side.text.startswith(b".")


def literal(side: Part) -> Any:
    """The value of a literal; NOTHING for anything else."""
    node, raw = side.only, side.text.decode("utf-8", "replace")
    if node is None:
        return NOTHING
    if node.type == "line_string_literal" and all(one.type == "line_str_text" for one in named(node)):
        return raw[1:-1] if "\\" not in raw else NOTHING
    if node.type in ("integer_literal", "prefix_expression"):
        return whole(raw.replace("_", ""))
    return {"true": True, "false": False, "nil": None}.get(raw, NOTHING)
