"""Facts of one C# file: usings, and its types with their bases, attributes and attributed methods."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from tree_sitter import Node, Point

from testlist.languages.csharp import facts_attributes
from testlist.languages.csharp.shape import Base, CSharpFacts, MethodFact, TypeFact
from testlist.languages.csharp.strip import stripped
from testlist.languages.csharp.strip_directives import blanked
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, named, parse, text

TYPES: Final = frozenset({"class_declaration", "record_declaration", "struct_declaration"})
NAMESPACES: Final = frozenset({"namespace_declaration", "file_scoped_namespace_declaration"})
#: modifiers that matter to a runner
TELLING: Final = frozenset({"public", "abstract", "static", "partial"})
#: a body that does nothing but skip
SKIPS: Final = re.compile(rb"\s*+(?:\{|=>)\s*(?://[^\n]*+\s*)*+(?:Assert\s*\.\s*(?:Ignore|Skip)|Skip\s*\.\s*Test)\s*\(")
NEWLINE: Final = re.compile(rb"\n")
#: types within types that are read
NESTED: Final = 24
#: what holds declarations
CONTAINERS: Final = frozenset({"declaration_list", "compilation_unit", "ERROR"})


def extract(source: bytes, language: str) -> Facts:
    """Read one file."""
    reading = Reading()
    if b"class" in source or b"using" in source or b"record" in source:
        plain, conditional = blanked(source)
        reading.source, reading.conditional = plain, conditional
        reading.walk(parse(stripped(plain), language))
    return {name: value for name, value in reading.facts.items() if value}


@dataclass(frozen=True, slots=True)
class Around:
    """Where a declaration stands."""

    ns: str = ""
    owner: TypeFact | None = None


@dataclass
class Reading:
    """State of one pass over a file.  source: with the bodies that the parsed text lacks.

    conditional: where text stands that only a condition compiles.
    """

    source: bytes = b""
    conditional: list[tuple[int, int]] = field(default_factory=list)
    facts: CSharpFacts = field(default_factory=lambda: CSharpFacts(usings=[], globals=[], aliases={}, types=[]))

    def walk(self, root: Node) -> None:
        """Read all declarations, without recursion: types may nest as deep as a hostile file likes."""
        stack: list[tuple[Node, Around]] = [(root, Around())]
        while stack:
            node, around = stack.pop()
            for child in node.named_children:
                if child.type in NAMESPACES:
                    around = self.namespace(child, around, stack)
                elif child.type in TYPES and (around.owner is None or len(around.owner["outer"]) < NESTED):
                    stack.append((child, self.type(child, around)))
                elif child.type == "method_declaration":
                    self.method(child, around.owner)
                elif child.type == "using_directive":
                    self.using(child)
                elif child.type in CONTAINERS:
                    stack.append((child, around))
                elif child.type == "global_attribute" and b"DiscoverInternals" in (child.text or b""):
                    self.facts["internals"] = True

    def namespace(self, node: Node, around: Around, stack: list[tuple[Node, Around]]) -> Around:
        """Enter a namespace; one that is file-scoped holds what follows it."""
        name = text(node.child_by_field_name("name"))
        inner = Around(f"{around.ns}.{name}" if around.ns else name)
        stack.append((node, inner))
        return inner if node.type.startswith("file") else around

    def using(self, node: Node) -> None:
        """Note a namespace in use, or an alias."""
        alias = node.child_by_field_name("name")
        target = "".join(text(next(reversed(node.named_children), None)).split())
        if alias is not None:
            self.facts["aliases"][text(alias)] = target
        else:
            whole = node.text or b""
            self.facts["globals" if whole.startswith(b"global") else "usings"].append(target)

    def type(self, node: Node, around: Around) -> Around:
        """Note a type and enter it."""
        mods = [text(child) for child in node.named_children if child.type == "modifier"]
        owner = around.owner
        item: TypeFact = {
            "name": text(node.child_by_field_name("name")),
            "arity": _arity(node),
            "ns": around.ns,
            "outer": [*owner["outer"], owner["name"]] if owner else [],
            "mods": sorted(TELLING.intersection(mods)),
            "bases": list(_bases(node)),
            "attrs": list(facts_attributes.read(node)),
            "methods": [],
        }
        if "public" not in mods or (owner and owner.get("hidden")):
            item["hidden"] = True
        if self.depends(node.child_by_field_name("name")):
            item["when"] = True
        self.facts["types"].append(item)
        return Around(around.ns, item)

    def method(self, node: Node, owner: TypeFact | None) -> None:
        """Note a method that has attributes."""
        marks = list(facts_attributes.read(node))
        name = node.child_by_field_name("name")
        if owner is None or name is None or not marks:
            return
        item: MethodFact = {
            "name": text(name),
            "line": line(name),
            "column": column(name),
            "end": end_line(node),
            "attrs": marks,
        }
        if facts_attributes.supplied(node.child_by_field_name("parameters")):
            item["data"] = True
        if self.skips(node):
            item["skip"] = True
        if self.depends(name):
            item["when"] = True
        owner["methods"].append(item)

    @cached_property
    def lines(self) -> list[int]:
        """Where the lines of the source begin."""
        return [0, *(found.end() for found in NEWLINE.finditer(self.source))]

    def at(self, point: Point) -> int:
        """Place in the source: the parsed text is shorter, but has the same lines and columns."""
        return self.lines[point.row] + point.column

    def depends(self, name: Node | None) -> bool:
        """Whether only a condition compiles a declaration."""
        if not self.conditional:
            return False
        at = self.at(name.start_point) if name is not None else 0
        place = bisect_right(self.conditional, (at, len(self.source))) - 1
        return place >= 0 and at < self.conditional[place][1]

    def skips(self, node: Node) -> bool:
        """`Assert.Ignore()`, `Assert.Skip()` or `Skip.Test()` as the first statement."""
        parameters = node.child_by_field_name("parameters")
        start = parameters.end_point if parameters is not None else node.end_point
        return bool(SKIPS.match(self.source, self.at(start), self.at(node.end_point)))


def _arity(node: Node) -> int:
    parameters = next((child for child in node.named_children if child.type == "type_parameter_list"), None)
    return sum(child.type == "type_parameter" for child in named(parameters))


def _bases(node: Node) -> Iterator[Base]:
    bases = next((child for child in node.named_children if child.type == "base_list"), None)
    for child in named(bases):
        base = child.named_children[0] if child.type == "primary_constructor_base_type" else child
        if found := facts_attributes.dotted(base):
            yield found, _arguments(base)


def _arguments(base: Node) -> int:
    """The number of type arguments of a base: they distinguish `Base<T>` from `Base`."""
    last = base.child_by_field_name("name") if base.type == "qualified_name" else base
    given = last.named_children[-1] if last is not None and last.type == "generic_name" else None
    return len(list(named(given)))
