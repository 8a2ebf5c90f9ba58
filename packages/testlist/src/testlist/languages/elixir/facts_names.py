"""Whole names of modules in one Elixir file: what stands in which module, and aliases."""

from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from testlist.languages.elixir.facts_calls import arguments, option
from testlist.sandbox.syntax import named, text

SELF: Final = "__MODULE__"


@dataclass(slots=True)
class Names:
    """Aliases that hold at one place: short name -> whole name."""

    known: dict[str, str] = field(default_factory=dict)

    def scope(self) -> dict[str, str]:
        """What holds now, to be put back at the end of a module."""
        return dict(self.known)

    def full(self, name: str, module: str) -> str:
        """The whole name of a module.  module: where it is named."""
        name = "".join(name.split())
        first, dot, rest = name.partition(".")
        if first == SELF:
            return f"{module}{dot}{rest}"
        if first == "Elixir":
            return rest
        return f"{self.known.get(first, first)}{dot}{rest}"

    def within(self, module: str, node: Node | None) -> str:
        """The whole name of a module that is declared in another; the source of a computed one."""
        name = text(node)
        if node is None or (node.type != "alias" and "(" in name):
            return " ".join(name.split())
        if not module or name.startswith((SELF, "Elixir.")):
            return self.full(name, module)
        whole = f"{module}.{name}"
        self.known[name.partition(".")[0]] = f"{module}.{name.partition('.')[0]}"
        return whole

    def alias(self, node: Node, module: str) -> None:
        """`alias A.B`, `alias A.B, as: C` and `alias A.{B, C}`."""
        for one in arguments(node)[:1]:
            short = option(node, "as")
            if one.type == "alias":
                name = self.full(text(one), module)
                self.known[text(short) if short is not None else name.rpartition(".")[2]] = name
            elif one.type == "dot":
                left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
                outer = self.full(text(left), module)
                inner = list(named(right)) if right is not None and right.type == "tuple" else [right]
                for name in filter(None, map(text, inner)):
                    self.known[name.rpartition(".")[2]] = f"{outer}.{name}"
