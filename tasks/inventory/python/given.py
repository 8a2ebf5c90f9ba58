"""Marks that a conftest.py gives while tests are collected, as far as its hook says so plainly.

Read is the recipe of pytest's own documentation: whatever has a mark is skipped unless an option is given.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from tree_sitter import Node

from tasks.inventory.syntax import named, text

HOOK: Final = "pytest_collection_modifyitems"
#: deeper blocks, and longer conditions, than any honest hook has
DEEPEST: Final = 12

#: [mark, option that keeps its tests in the run, whether nothing else has a say]
Given = list[str | bool]


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition.  kind: mark, option, or other for one that is not understood."""

    kind: str
    name: str = ""
    negated: bool = False

    def turned(self) -> "Gate":
        """The opposite."""
        return replace(self, negated=not self.negated)


@dataclass(slots=True)
class Hook:
    """Reads one hook.  skips: names of skip marks; options: names of options' values."""

    skips: dict[str, bool] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)

    def block(self, block: Node | None, gates: tuple[Gate, ...] = ()) -> Iterator[Given]:
        """What the statements of a block give under these conditions."""
        if len(gates) > DEEPEST:
            return
        for node in named(block):
            if node.type == "if_statement":
                yield from self.branches(node, gates)
                gates = (*gates, *self.passed(node))[: DEEPEST + 1]
            elif node.type == "for_statement":
                yield from self.block(node.child_by_field_name("body"), (*gates, Gate("loop")))
            elif node.type == "expression_statement":
                yield from self.expression(next(named(node), None), gates)

    def branches(self, node: Node, gates: tuple[Gate, ...]) -> Iterator[Given]:
        """Each branch under its own conditions and against those before it."""
        conditions = self.conditions(node)
        yield from self.block(node.child_by_field_name("consequence"), (*gates, *conditions))
        for other in node.children_by_field_name("alternative")[:DEEPEST]:
            gates = (*gates, *against(conditions))
            conditions = self.conditions(other) if other.type == "elif_clause" else []
            inside = other.child_by_field_name("consequence") or other.child_by_field_name("body")
            yield from self.block(inside, (*gates, *conditions))

    def passed(self, node: Node) -> list[Gate]:
        """What holds after an `if` that leaves the block: the opposite of its condition."""
        last = list(named(node.child_by_field_name("consequence")))[-1:]
        leaves = bool(last) and last[0].type in ("return_statement", "continue_statement")
        return against(self.conditions(node)) if leaves else []

    def conditions(self, node: Node) -> list[Gate]:
        """The parts of a condition that must all hold."""
        parts = [node.child_by_field_name("condition")]
        if parts[0] is not None and parts[0].type == "parenthesized_expression":
            parts = [next(named(parts[0]), None)]
        for _ in range(DEEPEST):
            operator = parts[0].child_by_field_name("operator") if parts[0] is not None else None
            if parts[0] is None or text(operator) != "and":
                break
            parts[:1] = [parts[0].child_by_field_name("left"), parts[0].child_by_field_name("right")]
        return [self.gate(part) if part is not None else Gate("other") for part in parts]

    def gate(self, node: Node) -> Gate:
        """What one condition asks for."""
        if node.type == "not_operator":
            inner = node.child_by_field_name("argument")
            return self.gate(inner).turned() if inner is not None and inner.type != "not_operator" else Gate("other")
        first = next(named(node), None)
        if node.type == "comparison_operator" and first is not None and first.type == "string":
            rest = text(node)[len(text(first)) :]
            asks = "in" in rest.split()[:2] and ("keywords" in rest or "mark" in rest)
            return Gate("mark", literal(first), rest.split()[0] == "not") if asks else Gate("other")
        if node.type == "call" and head(node).endswith("get_closest_marker"):
            return Gate("mark", literal(argument(node)))
        option = self.options.get(text(node)) or option_of(node)
        return Gate("option", option) if option else Gate("other")

    def expression(self, node: Node | None, gates: tuple[Gate, ...]) -> Iterator[Given]:
        """Remember what a name is given; yield the mark that a call gives."""
        if node is None:
            return
        if node.type == "assignment":
            name, value = text(node.child_by_field_name("left")), node.child_by_field_name("right")
            if value is not None and (plain := skipping(value)) is not None:
                self.skips[name] = plain
            elif value is not None and (option := option_of(value)):
                self.options[name] = option
        elif node.type == "call" and head(node).endswith(".add_marker"):
            given = argument(node)
            plain = self.skips.get(text(given), skipping(given))
            if plain is not None:
                yield from result(gates, plain=plain)


def result(gates: tuple[Gate, ...], *, plain: bool) -> Iterator[Given]:
    """A skip under these conditions, if one mark and no given option lead to it."""
    marks = [gate for gate in gates if gate.kind == "mark"]
    options = [gate for gate in gates if gate.kind == "option"]
    if len(marks) == 1 and not marks[0].negated and all(gate.negated for gate in options):
        sure = plain and not any(gate.kind == "other" for gate in gates)
        yield [marks[0].name, options[0].name if options else "", sure]


def against(conditions: list[Gate]) -> list[Gate]:
    """The opposite of conditions; of several it is not known which fails."""
    return [conditions[0].turned()] if len(conditions) == 1 else [Gate("other")] if conditions else []


def head(node: Node) -> str:
    """What a call calls."""
    return text(node.child_by_field_name("function"))


def argument(node: Node) -> Node | None:
    """First argument of a call."""
    return next(named(node.child_by_field_name("arguments")), None)


def literal(node: Node | None) -> str:
    """Value of a plain string."""
    return "".join(text(child) for child in named(node) if child.type == "string_content")


def skipping(node: Node | None) -> bool | None:
    """Whether a mark skips whatever the conditions; None for any other mark."""
    name = head(node) if node is not None and node.type == "call" else text(node)
    return {"skip": True, "skipif": False}.get(name.rpartition(".")[2]) if ".mark." in f".{name}" else None


def option_of(node: Node | None) -> str:
    """Name of the option whose value this is."""
    if node is not None and node.type == "call" and head(node) == "bool":
        node = argument(node)
    if node is not None and node.type == "call" and head(node).endswith(("getoption", "getvalue")):
        return literal(argument(node))
    words = text(node) if node is not None and node.type == "attribute" else ""
    return words.rpartition(".")[2] if ".option." in words else ""


def given(function: Node) -> list[Given]:
    """What the hook's body gives."""
    return list(Hook().block(function.child_by_field_name("body")))
