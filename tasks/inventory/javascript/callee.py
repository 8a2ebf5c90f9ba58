"""What is called: `it`, `describe.skip`, `test.each(table)`, `(cond ? it : it.skip)`, and their aliases."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from tasks.inventory.syntax import named, text

#: names a runner makes global; a call counts if its root is one of them or an alias of one
SUITES: Final = frozenset(
    {"describe", "context", "suite", "fdescribe", "xdescribe", "ddescribe", "fcontext", "xcontext", "xsuite", "fsuite"}
)
TESTS: Final = frozenset({"it", "test", "specify", "bench", "fit", "xit", "iit", "ftest", "xtest", "xspecify"})
KNOWN: Final = SUITES | TESTS
#: deeper chains of members and calls than any runner offers
STEPS: Final = 12


@dataclass(frozen=True, slots=True)
class Callee:
    """root: a name of KNOWN.  modifiers: members in order, called ones as well.  curried: some were called."""

    root: str
    modifiers: tuple[str, ...] = ()
    curried: bool = False

    def then(self, modifier: str) -> "Callee":
        """The callee with one more member."""
        return Callee(self.root, (*self.modifiers, modifier), self.curried)


def resolve(node: Node | None, aliases: Mapping[str, Callee], steps: int = STEPS) -> Callee | None:  # noqa: PLR0911 - one a node kind
    """Read an expression; None if it is not built on a known name."""
    if node is None or steps <= 0:
        return None
    if node.type == "identifier":
        name = text(node)
        return aliases[name] if name in aliases else Callee(name) if name in KNOWN else None
    if node.type == "member_expression":
        return _member(node, aliases, steps)
    if node.type == "call_expression":
        inner = resolve(node.child_by_field_name("function"), aliases, steps - 1)
        return Callee(inner.root, inner.modifiers, curried=True) if inner and inner.modifiers else None
    if node.type == "ternary_expression":
        branches = [
            resolve(node.child_by_field_name(name), aliases, steps - 1) for name in ("consequence", "alternative")
        ]
        # which branch holds is only known at run time: take the one that would run
        return min(filter(None, branches), key=lambda callee: len(callee.modifiers), default=None)
    if node.type in ("parenthesized_expression", "as_expression", "non_null_expression", "satisfies_expression"):
        return resolve(next(named(node), None), aliases, steps - 1)
    return None


def _member(node: Node, aliases: Mapping[str, Callee], steps: int) -> Callee | None:
    target, member = node.child_by_field_name("object"), text(node.child_by_field_name("property"))
    if target is not None and target.type == "identifier" and text(target) in NAMESPACES | aliases.keys():
        known = aliases.get(text(target))
        if known is None or known.root == NAMESPACE:
            return Callee(member) if member in KNOWN else None
    inner = resolve(target, aliases, steps - 1)
    return inner.then(member) if inner else None


#: stands for a runner imported as a whole: `import * as vitest`
NAMESPACE: Final = "*"
NAMESPACES: Final = frozenset({"globalThis", "global", "window"})
