"""Chains of calls in C#, their arguments, and the literals in them."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import NOTHING, at, made, said, whole
from testlist.sandbox.syntax import named, text

CALL: Final = "invocation_expression"
CONDITIONAL: Final = "conditional_access_expression"
CHAINED: Final = frozenset({CALL, "member_access_expression", CONDITIONAL})
LAMBDAS: Final = frozenset({"lambda_expression", "anonymous_method_expression"})
NUMBERS: Final = frozenset({"integer_literal", "real_literal"})
TYPEOF: Final = "typeof_expression"
#: relations that expect a type
TYPED: Final = frozenset({"type", "raises"})
#: names of arguments that say which side they are
SUBJECTS: Final = frozenset({"actual", "collection", "condition", "value"})
EXPECTED: Final = frozenset({"expected", "expectedSubstring", "notExpected", "expectedType"})
#: gives the line of a node in its file
Place = Callable[[Node], int]


class Link(NamedTuple):
    """One link of a chain.  node: the chain up to it; holder: what it is called on; name: its own, as a node."""

    node: Node
    holder: Node
    name: Node
    called: bool

    @property
    def word(self) -> str:
        """Its name without type arguments."""
        return plain(self.name)

    @property
    def given(self) -> list[Node]:
        """What it is given."""
        return arguments(self.node) if self.called else []


def links_of(node: Node) -> tuple[Node, list[Link]]:
    """What a chain begins with, and its links in order."""
    links: list[Link] = []
    conditions: list[Node] = []
    call: Node | None = None
    while True:
        function = node.child_by_field_name("function") if node.type == CALL else None
        if function is not None and call is None and function.type in CHAINED and function.type != CALL:
            call, node = node, function
        elif node.type == CONDITIONAL and (condition := node.child_by_field_name("condition")) is not None:
            conditions.append(condition)
            node = node.named_children[-1]
        elif (name := node.child_by_field_name("name")) is not None and node.type.startswith("member_"):
            holder = node.child_by_field_name("expression") or (conditions.pop() if conditions else None)
            if holder is None:
                break
            links.append(Link(call or node, holder, name, call is not None))
            call, node = None, holder
        else:
            break
    return call or node, links[::-1]


def plain(node: Node | None) -> str:
    """A name without type arguments; empty for what is none."""
    if node is not None and node.type == "generic_name":
        node = next(named(node), None)
    return text(node).lstrip("@") if node is not None and node.type in ("identifier", "this", "base") else ""


def type_of(name: Node) -> Node | None:
    """The first type argument."""
    given = name.named_children[-1] if name.type == "generic_name" else None
    return next(named(given), None)


def arguments(call: Node) -> list[Node]:
    """Values of arguments."""
    return [one.named_children[-1] for one in _written(call)]


def by_name(call: Node) -> dict[str, Node]:
    """Values of the arguments that have a name."""
    pairs = ((text(one.child_by_field_name("name")), one.named_children[-1]) for one in _written(call))
    return {name: node for name, node in pairs if name}


def _written(call: Node) -> list[Node]:
    given = named(call.child_by_field_name("arguments"))
    return [one for one in given if one.type == "argument" and one.named_children]


def sides(link: Link, subject: int | None, expected: int | None) -> tuple[Node | None, Node | None]:
    """The two sides of a check by the places of its arguments, or by their names."""
    given, names = link.given, by_name(link.node)
    left = next((node for name, node in names.items() if name in SUBJECTS), at(given, subject))
    right = next((node for name, node in names.items() if name in EXPECTED), at(given, expected))
    return left, right


def near(check: CheckFact, given: Sequence[Node], number: int) -> CheckFact:
    """The check; with a number after its sides, which is how far they may be apart."""
    tolerance = at(given, number)
    if check["relation"] in ("equal", "approximate") and tolerance is not None and tolerance.type in NUMBERS:
        check["relation"], check["tolerance"] = "approximate", said(tolerance)
    return check


def check_of(
    where: int, relation: str, subject: Node | None, expected: Node | None = None, *, negated: bool = False
) -> CheckFact:
    """One check; of a type, which is also written `typeof(A)`, by its name."""
    if expected is not None and expected.type == TYPEOF and relation in TYPED:
        expected = expected.child_by_field_name("type") or expected
    return made(where, relation, subject, expected, negated=negated, literal=literal)


def literal(node: Node) -> Any:
    """The value of a literal; NOTHING for anything else."""
    raw = text(node)
    if node.type == "string_literal":
        return raw[1:-1] if "\\" not in raw and raw.endswith('"') else NOTHING
    if node.type == "integer_literal":
        return whole(raw)
    if node.type == "boolean_literal":
        return raw == "true"
    return None if node.type == "null_literal" else NOTHING
