"""What the classes of one Ruby file inherit and include, and what the file requires: where their methods come from."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from testlist.languages.ruby.facts_calls import TITLES
from testlist.sandbox.syntax import named, text

#: what is looked into for classes; a block of a call may be a group of examples
OUTER: Final = frozenset({"program", "body_statement", "block_body", "do_block", "block", "class", "module"})
CONSTANTS: Final = frozenset({"constant", "scope_resolution"})
INCLUDES: Final = frozenset({"include", "prepend"})
REQUIRES: Final = frozenset({"require", "require_relative"})
#: classes with bases, bases of one, and files that are required
MOST_CLASSES, MOST_BASES, MOST_REQUIRED = 500, 10, 50
#: deeper trees are given up
DEEPEST: Final = 60


#: methods and calls that run something around the tests of the class that they stand in
HOOKS: Final = frozenset(
    {"setup", "teardown", "before_setup", "after_setup", "before_teardown", "after_teardown", "fixtures", "around",
     *(f"{when}{one}" for one in ("before", "after") for when in ("", "prepend_", "append_"))}
)  # fmt: skip


class Bases:
    """State of one pass.  bases, imports, hooks: see BodiesFact; of an import `relative` or nothing is said."""

    def __init__(self, root: Node) -> None:
        self.bases: dict[str, list[str]] = {"": []}
        self.imports: dict[str, str] = {}
        self.hooks: dict[str, None] = {}
        self.read(root, (), 0)
        for bases in self.bases.values():
            bases.append("")  # methods outside of classes are seen in all of them

    def read(self, node: Node, around: Sequence[str], depth: int) -> None:
        """Read what stands in a block.  around: modules and classes, outermost first."""
        for child in named(node) if depth < DEEPEST else ():
            if child.type == "call":
                self.call(child, around, depth)
            elif child.type == "method":
                self.hook(text(child.child_by_field_name("name")), around)
            elif child.type == "class":
                inner = [*around, constant(child.child_by_field_name("name"))]
                base = next(named(child.child_by_field_name("superclass")), None)
                self.add(inner, scoped(around, base))
                self.read(child, inner, depth + 1)
            elif child.type == "module":
                inner = [*around, constant(child.child_by_field_name("name"))]
                self.add(inner, [])
                self.read(child, inner, depth + 1)
            elif child.type in OUTER:
                self.read(child, around, depth + 1)

    def call(self, call: Node, around: Sequence[str], depth: int) -> None:
        """`include A`, `config.include A`, `require "a"`, and groups with blocks."""
        method = text(call.child_by_field_name("method"))
        given = list(named(call.child_by_field_name("arguments")))
        if around or call.child_by_field_name("receiver") is not None:  # else of a group that is shared
            self.hook(method, around)
        if method in INCLUDES:
            for one in given[:MOST_BASES]:
                self.add(around, scoped(around, one))
        elif method in REQUIRES and given and given[0].type in TITLES and len(self.imports) < MOST_REQUIRED:
            self.imports[text(given[0])[1:-1]] = "relative" if method == "require_relative" else ""
        elif (block := call.child_by_field_name("block")) is not None:
            self.read(block, around, depth + 1)

    def hook(self, name: str, around: Sequence[str]) -> None:
        """Note that a class runs something around its tests, if a method by this name does."""
        if name in HOOKS and len(self.hooks) < MOST_CLASSES:
            self.hooks[".".join(around)] = None

    def add(self, around: Sequence[str], bases: Sequence[str]) -> None:
        """Note bases of a class; what is included last is looked up first."""
        if len(self.bases) < MOST_CLASSES:
            known = self.bases.setdefault(".".join(around), [])
            known[:] = [*dict.fromkeys((*bases, *known))][:MOST_BASES]


def constant(node: Node | None) -> str:
    """`A.B` for the name `A::B`; empty for what is none."""
    return text(node).replace("::", ".") if node is not None and node.type in CONSTANTS else ""


def scoped(around: Sequence[str], node: Node | None) -> list[str]:
    """The names that a constant may have, by the modules around it, the innermost first."""
    name = constant(node)
    if not name or name.startswith("."):
        return [name[1:]] if name else []
    return [*_outwards(around, name)]


def _outwards(around: Sequence[str], name: str) -> Iterator[str]:
    scopes = ".".join(around)
    for _ in range(4):
        if not scopes:
            break
        yield f"{scopes}.{name}"
        scopes = scopes.rpartition(".")[0]
    yield name
