"""Calls of Java and Kotlin in one shape, chains of them, and values of literals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import SHOWN, CheckFact
from testlist.kit.checking import NOTHING, said, whole
from testlist.sandbox.syntax import text

COMMENTS: Final = frozenset({"comment", "line_comment", "block_comment", "multiline_comment"})
LAMBDAS: Final = frozenset({"lambda_literal", "annotated_lambda", "lambda_expression", "anonymous_function"})
STRINGS: Final = frozenset({"string_literal", "multiline_string_literal"})
NUMBERS: Final = frozenset({"decimal_integer_literal", "number_literal"})
WORDS: Final = {"true": True, "false": False, "null": None}
#: relations of which several values may be expected together
SPREAD: Final = frozenset({"equal", "contains", "has", "called_with"})
#: links of a chain that are followed, and parentheses
LONGEST: Final = 40


@dataclass(frozen=True, slots=True)
class Call:
    """One call.  owner: what it is called on; given: its arguments; labels: those with a name, also in given.

    block: the lambda behind a call in Kotlin; kind: its first type argument; matcher: of `a should be<T>(b)`, the call
    of which the grammar makes no node.
    """

    node: Node
    name: str
    owner: Node | None = None
    given: tuple[Node, ...] = ()
    labels: Mapping[str, Node] = field(default_factory=dict)
    block: Node | None = None
    kind: Node | None = None
    matcher: "Call | None" = None
    is_infix: bool = False

    def inside(self) -> Iterator[Node]:
        """What stands in it besides its owner."""
        yield from self.given
        if self.block is not None:
            yield self.block


def parts(node: Node | None) -> list[Node]:
    """Named children without comments."""
    return [child for child in node.named_children if child.type not in COMMENTS] if node is not None else []


def call_of(node: Node | None) -> Call | None:
    """The call that a node is; None if it is none, or if what is called has no name."""
    read = READERS.get(node.type) if node is not None else None
    return read(node) if read is not None and node is not None else None


def chain(call: Call) -> list[Call]:
    """A call after those that it is called on, the first of them first; properties between them are links too."""
    links = [call]
    while links[-1].owner is not None and len(links) < LONGEST:
        before = call_of(bare(links[-1].owner))
        if before is None:
            break
        links.append(before)
    return links[::-1]


def bare(node: Node) -> Node:
    """An expression without the parentheses around it, and without `!!`."""
    for _ in range(LONGEST):
        is_wrapped = node.type == "parenthesized_expression" or (
            node.type == "unary_expression" and text(node)[-1:] == "!"
        )
        inner = parts(node)
        if not is_wrapped or len(inner) != 1:
            break
        node = inner[0]
    return node


def _java(node: Node) -> Call:
    name, owner = node.child_by_field_name("name"), node.child_by_field_name("object")
    return Call(node, text(name), owner, tuple(parts(node.child_by_field_name("arguments"))))


def _kotlin(node: Node) -> Call | None:
    """`a.b<T>(c) { d }`."""
    callee, *rest = parts(node) or [node]
    outer = rest
    if callee.type == "call_expression" and all(one.type in LAMBDAS for one in rest):
        callee, *rest = parts(callee)
        rest += outer
    kind = next((_kind(one) for one in rest if one.type == "type_arguments"), None)
    block = next((_lambda(one) for one in rest if one.type in LAMBDAS), None)
    given, labels = _given(one for group in rest if group.type == "value_arguments" for one in parts(group))
    if callee.type == "infix_expression" and len(infix := parts(callee)) == 3:
        matcher = Call(node, plain(infix[2]), None, given, labels, block, kind)
        return Call(node, plain(infix[1]), infix[0], (infix[2],), matcher=matcher, is_infix=True)
    if callee.type == "identifier":
        return Call(node, plain(callee), None, given, labels, block, kind)
    inner = parts(callee) if callee.type == "navigation_expression" else []
    if len(inner) != 2:
        return None
    return Call(node, plain(inner[1]), inner[0], given, labels, block, kind)


def _given(arguments: Iterator[Node]) -> tuple[tuple[Node, ...], dict[str, Node]]:
    """Arguments, and those that have names."""
    given: list[Node] = []
    labels: dict[str, Node] = {}
    for argument in arguments:
        inner = parts(argument)
        if not inner:
            continue
        given.append(_lambda(inner[-1]))
        if len(inner) == 2 and any(child.type == "=" for child in argument.children):
            labels[plain(inner[0])] = given[-1]
    return tuple(given), labels


def _lambda(node: Node) -> Node:
    """A lambda without its annotations and label."""
    return next((one for one in parts(node) if one.type in LAMBDAS), node) if node.type == "annotated_lambda" else node


def _kind(arguments: Node) -> Node | None:
    return next(iter(parts(arguments)), None)


def _infix(node: Node) -> Call | None:
    """`a shouldBe b`."""
    inner = parts(node)
    if len(inner) != 3 or inner[1].type != "identifier":
        return None
    return Call(node, plain(inner[1]), inner[0], (inner[2],), is_infix=True)


def _property(node: Node) -> Call | None:
    """`a.b`, where `a` is a call."""
    inner = parts(node)
    if len(inner) != 2 or bare(inner[0]).type not in ("call_expression", "navigation_expression"):
        return None
    return Call(node, plain(inner[1]), inner[0])


def _compared(node: Node) -> Call | None:
    """`a<T> { b }` and `a<T>(b)`, which the grammar takes for two comparisons."""
    inner = parts(node)
    if len(inner) != 2 or inner[0].type != "binary_expression" or not _has(node, ">") or not _has(inner[0], "<"):
        return None
    named, block = parts(inner[0]), inner[1]
    if len(named) != 2 or named[0].type != "identifier":
        return None
    if block.type == "parenthesized_expression":
        return Call(node, plain(named[0]), given=(bare(block),), kind=named[1])
    for _ in range(5):  # `a<T> { b }.c`
        if block.type in LAMBDAS or not parts(block):
            break
        block = parts(block)[0]
    return Call(node, plain(named[0]), block=inner[1], kind=named[1]) if block.type in LAMBDAS else None


def _has(node: Node, operator: str) -> bool:
    return any(child.type == operator for child in node.children)


READERS: Final[dict[str, Callable[[Node], Call | None]]] = {
    "method_invocation": _java,
    "call_expression": _kotlin,
    "infix_expression": _infix,
    "navigation_expression": _property,
    "binary_expression": _compared,
}


def spread(check: CheckFact, given: Sequence[Node]) -> CheckFact:
    """The check with all of what it is given as what is expected, where that is more than one value."""
    if len(given) > 1 and check["relation"] in SPREAD:
        check["expected"] = ", ".join(map(said, given))[:SHOWN]
        check.pop("value", None)
    return check


def plain(node: Node | None) -> str:
    """A name without its backticks."""
    return text(node).strip("`")


def literal(node: Node) -> Any:
    """The value of a literal; NOTHING for anything else."""
    raw = text(node)
    if node.type == "string_literal" and not raw.startswith('"""') and "\\" not in raw:
        is_whole = "$" not in raw or all(
            child.type == "string_fragment" for child in node.named_children
        )  # no template
        return raw[1:-1] if is_whole else NOTHING
    if node.type in NUMBERS or (node.type == "unary_expression" and raw[:1] == "-"):
        return whole(raw)
    return WORDS.get(raw, NOTHING) if node.type in ("identifier", "true", "false", "null_literal") else NOTHING
