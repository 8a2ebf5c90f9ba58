"""Facts of one Scala file: package, imports, classes with their bases, and what may declare tests in them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from tree_sitter import Node

from testlist.languages.scala.facts_calls import Place, Walk
from testlist.languages.scala.facts_places import place
from testlist.languages.scala.shape import CallFact, ClassFact, Import, MethodFact, ScalaFacts
from testlist.languages.scala.vocabulary import BODIES, GIVES, LAZY
from testlist.model import Facts
from testlist.sandbox.syntax import column, line, named, parse, text

#: what a file has that declares a test, or a class that one may be built on
MARKER: Final = re.compile(rb"\b(?:extends|with|trait)\b|@\w*Test|@org\.")
#: frameworks whose tests may stand in tests
NESTING: Final = re.compile(rb"\butest\b")
CLASSES: Final = {"class_definition": "class", "trait_definition": "trait", "object_definition": "object"}
TYPES: Final = frozenset({"type_identifier", "stable_type_identifier", "generic_type"})
#: what the grammar could not read may hold classes that it could
BROKEN: Final = frozenset({"package_object", "ERROR"})
#: deeper nesting of classes and packages is no program's
DEEPEST: Final = 16
MOST_MARKS: Final = 64
#: letters of a name, with dots; a longer one is no program's, and patterns take the square of it
LONGEST: Final = 400
#: what a class has even where it is empty: the name of a broken one
KEPT: Final = frozenset({"line", "name"})
#: annotation of a class that something else makes, with its values
FILLED: Final = "WrapWith"
HIDDEN: Final = frozenset({"private", "protected"})


def extract(source: bytes, language: str) -> Facts:
    """Read one file: see shape.ScalaFacts."""
    if not MARKER.search(source):
        return {}
    reader = Reader(NESTING.search(source) is not None)
    reader.file(parse(source, language).named_children, 0)
    facts: ScalaFacts = {
        "imports": reader.imports,
        "classes": reader.classes,
    }
    return {key: value for key, value in facts.items() if value}


@dataclass(slots=True)
class Reader:
    """One file."""

    nests: bool
    package: list[str] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    classes: list[ClassFact] = field(default_factory=list)

    def file(self, nodes: Iterable[Node], depth: int) -> None:
        """What stands at the top of a file, or in a package with braces."""
        for node in nodes:
            if node.type == "package_clause" and depth < DEEPEST:
                self.package.append(text(node.child_by_field_name("name"))[:LONGEST])
                if (body := node.child_by_field_name("body")) is not None:
                    self.file(body.named_children, depth + 1)
                    self.package.pop()
            elif node.type == "import_declaration":
                self.imports += (one for one in imported(node) if len(one[0]) <= LONGEST)
            elif node.type in CLASSES:
                self.classes.append(self.declared(node, depth, ".".join(self.package)))
            elif node.type in BROKEN and depth < DEEPEST:
                self.file(node.named_children, depth + 1)

    def declared(self, node: Node, depth: int, package: str = "") -> ClassFact:
        """A class, trait or object with what stands in it."""
        name = node.child_by_field_name("name") or node
        kind = CLASSES[node.type]
        mods = {text(one) for child in node.children if child.type == "modifiers" for one in child.children}
        body = node.child_by_field_name("body")
        inner = [*named(body)]
        walk = Walk(self.nests)
        found: ClassFact = {
            "line": line(name),
            "column": column(name),
            "end": place(node)["end"],
            "k": kind,
            "name": plain(node.child_by_field_name("name"))[:LONGEST],
            "package": package,
            "bases": [*bases(node)],
            "abstract": kind == "trait" or "abstract" in mods,
            "asks": asks(node) and FILLED not in marks(node) and not any(is_constructor(one) for one in inner),
            "marks": marks(node),
            "methods": [*methods(inner)],
            "calls": self.calls(inner, walk),
            "classes": [self.declared(one, depth + 1) for one in inner if one.type in CLASSES and depth < DEEPEST],
            "passes": walk.passes,
        }
        return _compact(found)

    def calls(self, nodes: Iterable[Node], walk: Walk) -> list[CallFact]:
        """What the body of a class declares, its methods too, which somebody may call."""
        found: list[CallFact] = []
        loose: list[Node] = []
        for node in nodes:
            if node.type != "function_definition":
                loose.append(node)
            elif (body := node.child_by_field_name("body")) is not None:
                walk.method = plain(node.child_by_field_name("name"))
                found += walk.of([body], within(node))
        return sorted([*found, *walk.of(loose, Place())], key=lambda call: (call["line"], call["column"]))


def _compact(item: ClassFact) -> ClassFact:
    # mypy knows no comprehension that makes a TypedDict
    return {key: value for key, value in item.items() if value or key in KEPT}  # type: ignore[return-value]


def plain(node: Node | None) -> str:
    """A name without its backticks."""
    return text(node).strip("`")


def bases(node: Node) -> Iterator[str]:
    """Dotted names of what a class is built on, without types in brackets."""
    extends = node.child_by_field_name("extend")
    for child in extends.named_children if extends is not None else ():
        inner = child.named_children[0] if child.type == "generic_type" and child.named_children else child
        if inner.type in TYPES and len(found := "".join(text(inner).split())) <= LONGEST:
            yield found


def asks(node: Node) -> bool:
    """Whether a class is made with values; those with a default do not count."""
    return any(
        parameter.type == "class_parameter" and parameter.child_by_field_name("default_value") is None
        for child in node.named_children
        if child.type == "class_parameters"
        for parameter in child.named_children
    )


def is_constructor(node: Node) -> bool:
    """Whether a member is `def this()`, by which a class can be made without values."""
    if node.type != "function_definition" or text(node.child_by_field_name("name")) != "this":
        return False
    return not any(True for child in node.named_children if child.type == "parameters" for _ in named(child))


def marks(node: Node) -> list[str]:
    """Names of annotations."""
    found = (text(child.child_by_field_name("name")) for child in node.named_children if child.type == "annotation")
    return [*islice(found, MOST_MARKS)]


def methods(nodes: Iterable[Node]) -> Iterator[MethodFact]:
    """Methods that are annotated, or called as tests are: `testAdds`, or words in backticks."""
    for node in nodes:
        name = node.child_by_field_name("name") if node.type == "function_definition" else None
        if name is None:
            continue
        said, given = plain(name), marks(node)
        if given or said.startswith("test") or " " in said:
            parameters = [one for child in node.named_children if child.type == "parameters" for one in named(child)]
            at = place(node)
            found: MethodFact = {"line": line(name), "column": column(name), "end": at["end"], "name": said}
            if given:
                found["marks"] = given
            if parameters:
                found["params"] = len(parameters)
            if any(
                mod in HIDDEN for child in node.children if child.type == "modifiers" for mod in text(child).split()
            ):
                found["hidden"] = True
            yield found


def within(node: Node) -> Place:
    """The body of a method: what it asks for may be a part of tests."""
    titles: list[str] = []
    bodies: list[str] = []
    for child in node.named_children:
        if child.type == "parameters":
            parameters = [*named(child)]
            for one in parameters:
                name = text(one.child_by_field_name("name"))
                (bodies if is_body(one.child_by_field_name("type"), alone=len(parameters) == 1) else titles).append(
                    name
                )
    return Place(loop=bool(titles or bodies), titles=_any(titles), bodies=_any(bodies))


def is_body(kind: Node | None, *, alone: bool) -> bool:
    """Whether a value of a type may be the body of a test.  alone: it is given in a list of its own, as blocks are.

    Other functions make what is tested.
    """
    if kind is None or kind.type not in BODIES or not kind.named_children:
        return False
    fits = alone or kind.type == LAZY
    return fits and GIVES.match(text(kind.named_children[-1])) is not None


def _any(names: list[str]) -> re.Pattern[str] | None:
    kept = [re.escape(name) for name in names[:MOST_MARKS] if name]
    return re.compile(rf"\b(?:{'|'.join(kept)})\b") if kept else None


def imported(node: Node) -> Iterator[Import]:
    """`import a.b`, `a._`, `a.{b, c => d}`, and several of these in a row."""
    path: list[str] = []
    for child in node.children:
        if child.type in ("identifier", "operator_identifier"):
            path.append(plain(child))
        elif child.type == "namespace_wildcard":
            yield ".".join(path), "*"
            path = []
        elif child.type == "namespace_selectors":
            yield from _selected(".".join(path), child)
            path = []
        elif child.type == ",":
            if path:
                yield ".".join(path), path[-1]
            path = []
    if path:
        yield ".".join(path), path[-1]


def _selected(package: str, node: Node) -> Iterator[Import]:
    for one in named(node):
        if one.type == "namespace_wildcard":
            yield package, "*"
        elif one.type == "identifier":
            yield f"{package}.{plain(one)}", plain(one)
        else:
            name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
            if name is not None and alias is not None:
                yield f"{package}.{plain(name)}", plain(alias)
