"""Facts of one Dart file: calls that may be tests or groups, functions that pass them on, and classes of tests."""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.dart.facts_calls import MOST, Called, called, calls_many, fact_of, parameters_of
from testlist.languages.dart.facts_classes import annotation_of, class_of
from testlist.languages.dart.facts_titles import uri_of
from testlist.languages.dart.shape import CallFact, ClassFact, DartFacts
from testlist.languages.dart.vocabulary import PERHAPS, TESTS, WORDS
from testlist.model import Facts
from testlist.sandbox.syntax import named, parse, text

#: a file without one of these declares no test, passes none on and leads to none
SPEAKS: Final = re.compile(rb"(?i)test|group|golden|scenario|case|export|part")
LOOPS: Final = frozenset({"for_statement", "while_statement", "do_statement", "for_element"})
BRANCHES: Final = frozenset({"if_statement", "if_element", "conditional_expression", "switch_statement"})
CLASSES: Final = frozenset({"class_definition", "mixin_declaration"})
#: what holds methods, too, which no test can stand for
HOLDERS: Final = frozenset({"extension_declaration", "extension_type_declaration", "enum_declaration"})
SIGNATURES: Final = frozenset({"function_signature", "method_signature"})
DIRECTIVES: Final = frozenset({"import_or_export", "part_directive", "part_of_directive", "library_name"})
#: annotations of a whole file -> whether it is skipped; the others are conditions
LIBRARY: Final = {"Skip": True, "TestOn": False, "OnPlatform": False}
DEEPEST: Final = 40  # calls in each other
MOST_IMPORTS: Final = 400


class Place(NamedTuple):
    """Where calls are looked for.  into: where they are kept; names, parameters: of the function around."""

    node: Node
    into: list[CallFact]
    depth: int = 0
    dynamic: bool = False
    when: bool = False
    names: tuple[str, ...] = ()
    parameters: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Found:
    """What one file declares."""

    source: bytes
    imports: list[str] = field(default_factory=list)
    prefixes: set[str] = field(default_factory=set)
    calls: list[CallFact] = field(default_factory=list)
    wrappers: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    classes: list[ClassFact] = field(default_factory=list)
    skipped: bool = False
    when: bool = False

    def walk(self, root: Node) -> None:
        """Go through a file, without recursion: texts may be nested without end."""
        todo = [Place(root, self.calls)]
        while todo:
            todo += self.within(todo.pop())

    def within(self, place: Place) -> list[Place]:
        """Look at the children of a node; returns where to go on."""
        found: list[Place] = []
        function = place
        children = place.node.children
        read = -1  # the last child that belongs to a call
        for position, child in enumerate(children):
            if position <= read:
                continue
            if child.type in DIRECTIVES:
                self.directive(child)
            elif child.type in SIGNATURES:
                function = self.function(child, place)
            elif child.type == "function_body":
                found.append(function._replace(node=child))
            elif child.type in CLASSES:
                self.classes += class_of(child, children[max(0, position - 3) : position])
                found.append(place._replace(node=child, names=(child.type,)))
            elif child.type in HOLDERS:
                found.append(place._replace(node=child, names=(child.type,)))
            elif (
                child.type == "identifier"
                and (one := called(children, position, self.prefixes, self.source)) is not None
            ):
                found += self.call(one, place)
                read = position + one.selectors
            elif child.child_count:
                found.append(self.inner(child, children[position - 1], place))
        return found

    def inner(self, child: Node, before: Node, place: Place) -> Place:
        """A part that is neither a declaration nor a call by name.  before: the one in front of it."""
        dynamic = place.dynamic or child.type in LOOPS or calls_many(child, before)
        return place._replace(node=child, dynamic=dynamic, when=place.when or child.type in BRANCHES)

    def directive(self, node: Node) -> None:
        """An import, an export or a part, and what annotations in front of it say of the file."""
        todo = [node]
        while todo:
            child = todo.pop()
            if child.type == "annotation":
                self.annotated(child)
            elif child.type == "uri":
                self.imports += uri_of(child, self.source)
            elif (
                child.type == "identifier" and child.parent is not None and child.parent.type == "import_specification"
            ):
                self.prefixes.add(text(child))
            else:
                todo += child.named_children

    def annotated(self, annotation: Node) -> None:
        """An annotation of the whole file."""
        skips = LIBRARY.get(annotation_of(annotation))
        self.skipped = self.skipped or skips is True
        self.when = self.when or skips is False

    def function(self, signature: Node, place: Place) -> Place:
        """A function: calls in one that asks for values run once for each call of it."""
        name, parameters = parameters_of(signature)
        if name in WORDS and not place.names:
            self.own.add(name)
        around = place.parameters if len(place.parameters) < MOST else frozenset()  # each function has them again
        return place._replace(
            dynamic=place.dynamic or bool(parameters),
            names=(*place.names, name)[-DEEPEST:],
            parameters=around | parameters,
        )

    def may_pass(self, name: str, word: str) -> bool:
        """Whether a function may declare tests by what it calls."""
        return word in WORDS or word in self.wrappers or PERHAPS.search(f"{name} {word}") is not None

    def call(self, one: Called, place: Place) -> list[Place]:
        """A call by name: a test, a group, what may be one by a function of the repository, or anything else."""
        inner = [place._replace(node=argument) for argument in one.arguments]
        if place.names and one.passes_on(place.parameters):
            self.wrappers.setdefault(place.names[-1], one.word)
            return []
        if not one.may_declare:
            return inner
        fact = fact_of(one, dynamic=place.dynamic, when=place.when)
        place.into.append(fact)
        if one.word in TESTS:
            return []
        into = fact.setdefault("calls", []) if place.depth < DEEPEST else place.into
        return [one._replace(into=into, depth=place.depth + 1) for one in inner]


def extract(source: bytes, language: str) -> Facts:
    """Read one file: see shape.DartFacts."""
    if not SPEAKS.search(source):
        return {}
    found = _Found(source)
    root = parse(source, language)
    for child in named(root):
        if child.type == "annotation":  # a library without a name follows
            found.annotated(child)
        elif child.type != "library_name":
            break
    found.walk(root)
    facts: DartFacts = {
        "imports": found.imports[:MOST_IMPORTS],
        "calls": [trimmed(one) for one in found.calls],
        "wrappers": {name: word for name, word in found.wrappers.items() if found.may_pass(name, word)},
        "own": sorted(found.own - found.wrappers.keys()),
        "classes": found.classes,
    }
    if found.skipped:
        facts["status"] = "skipped"
    if found.when:
        facts["when"] = True
    return {key: value for key, value in facts.items() if value}


def trimmed(fact: CallFact) -> CallFact:
    """Forget that nothing stands in a call."""
    if "calls" in fact and not fact["calls"]:
        del fact["calls"]
    return fact
