"""What a name alone means in a Swift function: a value or a function that is written nearer than any other."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import line, named, text

#: declarations whose names are their own
OTHERS: Final = frozenset({"function_declaration", "class_declaration", "protocol_declaration"})
#: patterns in patterns, and blocks in blocks, that are looked into
DEEPEST: Final = 200
NAME, PATTERN, BINDING = "simple_identifier", "pattern", "value_binding_pattern"


@dataclass(frozen=True, slots=True)
class Function:
    """One function.  types, outer: what is around it; alone: nothing of these types changes what a test means."""

    node: Node
    name: str
    types: tuple[str, ...]
    outer: tuple[Node, ...]
    body: Node
    alone: bool

    @property
    def place(self) -> tuple[str, ...]:
        """The names of all that is around it."""
        return (*self.types, *(text(one.child_by_field_name("name")).strip("`") for one in self.outer))


@dataclass(frozen=True, slots=True)
class Seen:
    """The functions that names mean in one function.

    own, near: of the type around it, and of the file; local: of functions in functions, by their full names; values:
    as in `bound`; doubtful: names of several functions, of which nobody knows the one that is meant.
    """

    own: Collection[str] = ()
    near: Collection[str] = ()
    local: dict[str, str] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    doubtful: Collection[str] = ()

    def called(self, name: str, call: Node) -> str:
        """A called name as it is followed; empty for what is no function that can be told."""
        if name in self.values and call.start_byte >= self.values[name]:
            return ""
        if name in self.local:
            return self.local[name]
        if name.removeprefix("self.") in self.doubtful:
            return ""
        return f"self.{name}" if name in self.own else name


class Names:
    """The functions of one file by their names."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self.alike = Counter((one.place, one.name) for one in functions)
        self.members: dict[tuple[str, ...], set[str]] = {}
        self.inner: dict[int, dict[str, str]] = {}
        for one in functions:
            if one.outer:
                self.inner.setdefault(one.outer[-1].id, {})[one.name] = "" if self._is_one_of(one) else self.full(one)
            else:
                self.members.setdefault(one.types, set()).add(one.name)

    def _is_one_of(self, function: Function) -> bool:
        return self.alike[function.place, function.name] > 1

    def full(self, function: Function) -> str:
        """The name of a function with those around it, and its line if there are several of that name."""
        around = ".".join(function.place)
        around = f"{around}({line(function.node)})" if self._is_one_of(function) else around
        return f"{around}.{function.name}" if around else function.name

    def seen_from(self, function: Function) -> Seen:
        """What names mean in a function."""
        own = self.members.get(function.types, set()) if function.types else set()
        near, around = self.members.get((), set()), (*function.outer, function.node)
        doubtful = {name for name in own if self.alike[function.types, name] > 1}
        doubtful |= {name for name in near - own if self.alike[(), name] > 1}
        local: dict[str, str] = {}
        for one in around:
            local |= self.inner.get(one.id, {})
        return Seen(own, near, local, bound(around), doubtful)


def bound(functions: Sequence[Node]) -> dict[str, int]:
    """The parameters and values of some functions, each with the byte behind which its name means them.

    functions: one, and those around it.
    """
    found: dict[str, int] = {}
    for function in functions:
        for name, begin in _bound(function, 0):
            found[name] = min(begin, found.get(name, begin))
    return found


def _bound(node: Node, depth: int) -> Iterator[tuple[str, int]]:
    before = None
    for child in named(node) if depth < DEEPEST else ():
        if child.type in ("parameter", "lambda_parameter"):
            names = [one for one in named(child) if one.type == NAME]
            if names:  # the last one: what stands before it is a label
                yield text(names[-1]), child.end_byte
        elif child.type == PATTERN or (child.type == NAME and before is not None and before.type == BINDING):
            yield from ((name, _end(child)) for name in _names(child, 0))
        elif child.type not in OTHERS:
            yield from _bound(child, depth + 1)
        before = child


def _names(node: Node, depth: int) -> Iterator[str]:
    if node.type == NAME:
        yield text(node)
    for child in named(node) if depth < DEEPEST else ():
        yield from _names(child, depth + 1)


def _end(node: Node) -> int:
    """Where the value ends that a pattern is given: in it, the name means what it meant before."""
    above, behind = node.parent, node.next_named_sibling
    if above is not None and above.type == "property_declaration":
        return above.end_byte
    return node.end_byte if behind is None else behind.end_byte
