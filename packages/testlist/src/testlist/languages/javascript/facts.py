"""Facts of one JavaScript or TypeScript file: imports, and a tree of the calls that register tests."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript import facts_exports, facts_imports
from testlist.languages.javascript.facts_annotations import annotation, leaves, suite
from testlist.languages.javascript.facts_arguments import (
    CONSTANT,
    FUNCTIONS,
    Arguments,
    evident,
    given_to,
    members,
    read,
    title_at,
)
from testlist.languages.javascript.facts_branches import IN_SOURCE, Step, decides, follow
from testlist.languages.javascript.facts_callee import Callee, borrowed, resolve, tester
from testlist.languages.javascript.facts_calls import depending, described
from testlist.languages.javascript.facts_literals import required, string_of
from testlist.languages.javascript.facts_wrappers import declaration, may_stand, parameters, valued
from testlist.languages.javascript.shape import Call, CallFact, JavaScriptFacts
from testlist.languages.javascript.strip import METHODS, stripped
from testlist.languages.javascript.vocabulary import ALLOWED, EACH, GLOBALS, KNOWN, SUBTESTS, SUITES, TELLING, TESTS
from testlist.languages.javascript.vocabulary_modules import RUNNERS
from testlist.model import Facts
from testlist.sandbox.syntax import parse, text

LOOPS: Final = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
TELLS: Final = frozenset({"export_statement", "assignment_expression", "variable_declarator", "if_statement"})
DECLARING: Final = frozenset({"function_declaration", "export_statement"})
SCOPES: Final = FUNCTIONS | {"function_declaration"}
#: functions in functions that hide names, more than any file has
DEEPEST: Final = 20
#: commands of Cypress, which stand in the bodies of tests alone
CYPRESS: Final = re.compile(rb"\bcy\.")
#: sources above this size are parsed once
TWICE: Final = 262_144
#: nodes that hold no calls of interest
LEAVES: Final = frozenset(
    {"string", "template_string", "regex", "number", "comment", "type_annotation", "interface_declaration",
     "type_alias_declaration", "import_statement", "identifier", "property_identifier", "this", "true", "false", "null",
     "undefined", "shorthand_property_identifier", "shorthand_property_identifier_pattern", "type_identifier"}
)  # fmt: skip


def extract(source: bytes, language: str) -> Facts:
    """Read one file."""
    shorter = stripped(source)
    reading, calls = begun(shorter, source, language)
    if shorter is not source and reading.renames:
        reading, calls = begun(source, source, language)
    facts: JavaScriptFacts = {
        "calls": calls,
        "imports": sorted(reading.modules),
        "uses": sorted(reading.uses),
        "borrowed": {name: reading.foreign[name] for name in sorted(reading.borrowed)},
        "exports": {
            name: value
            for node in reading.exports
            for name, value in facts_exports.read(node, reading.aliases, reading.foreign).items()
        },
    }
    return dict(facts)


def begun(given: bytes, source: bytes, language: str) -> "tuple[Reading, list[Call]]":
    """Read a file once.  given: what is left of it."""
    reading = Reading(uses={"cy"} if b"cy." in source and CYPRESS.search(source) else set())
    reading.modules |= {"vitest"} if IN_SOURCE in source else set()
    root = tree(given, language)
    reading.hoist(root)
    return reading, list(reading.walk(root))


def tree(source: bytes, language: str) -> Node:
    """Parse a file; one of JavaScript that holds types, or what its grammar stumbles over, by that of TSX."""
    root = parse(source, language)
    if language != "javascript" or len(source) > TWICE or not root.has_error:
        return root
    other = parse(source, "tsx")
    return root if other.has_error else other


@dataclass(slots=True)
class Reading:
    """State of one pass over a file, in source order, so that an alias is known before it is used."""

    aliases: dict[str, Callee] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    foreign: dict[str, tuple[str, str]] = field(default_factory=dict)  # name here -> (module, name there)
    borrowed: set[str] = field(default_factory=set)  # those of them that seem to register tests
    exports: list[Node] = field(default_factory=list)
    handles: dict[str, tuple[str, ...]] = field(default_factory=dict)  # variables that hold a suite -> its titles
    wrappers: set[int] = field(default_factory=set)  # where functions stand whose calls are the tests
    wholes: bool = False  # whether a variable holds a runner's module
    apart_in: int = 0  # functions around that hide names

    @property
    def renames(self) -> bool:
        """Whether a name of tests means a suite here, or what no runner knows, so that its bodies count."""
        return any(suite(callee) or callee.extended for name in TESTS if (callee := self.aliases.get(name)) is not None)

    def walk(self, node: Node, *, loop: bool = False) -> Iterator[Call]:
        """Calls below a node, those inside suites nested in them."""
        # a stack of its own: the nesting of a hostile file is not bounded by ours
        stack, wrappers = [(child, loop, False) for child in reversed(node.named_children)], self.wrappers
        while stack:
            child, inside, when = stack.pop()
            kind = child.type  # a new string each time it is asked for
            if kind in LEAVES:
                if kind == "import_statement":
                    self.note(child)
                continue
            if kind in TELLS:
                self.learn(child, kind, [] if inside or when else stack)  # in a loop a way out leads to the next round
            if wrappers and child.start_byte in wrappers:
                continue
            if kind == "call_expression":
                found = self.call(child, loop=inside)
                if found is not None:
                    yield depending(found) if when else found
                    continue
                inside = inside or self.repeats(child)
            inside = inside or kind in LOOPS
            when = when or decides(child, kind)
            if self.wholes and kind in SCOPES and (names := self.shadowed(child)):
                yield from self.apart(child, names, loop=inside, when=when)
            else:
                stack += [(grandchild, inside, when) for grandchild in reversed(child.named_children)]

    def shadowed(self, function: Node) -> set[str]:
        """Names of runners that mean something else in a function: the test that it is given, for instance."""
        names = parameters(function) if self.apart_in < DEEPEST else ()
        return {name for name in names if name in self.aliases and self.aliases[name].whole}

    def apart(self, function: Node, names: set[str], *, loop: bool, when: bool) -> Iterator[Call]:
        """Calls in a function where some names are its parameters."""
        hidden = {name: self.aliases.pop(name) for name in names}
        self.apart_in += 1
        yield from (depending(found) if when else found for found in self.walk(function, loop=loop))
        self.apart_in -= 1
        self.aliases |= hidden

    def note(self, node: Node) -> None:
        """Learn from an import or a variable."""
        value = node.child_by_field_name("value") if node.type == "variable_declarator" else None
        if value is not None and value.type in FUNCTIONS:
            self.wrap(node, value)
        if value is not None and value.type in CONSTANT:
            target = node.child_by_field_name("name")
            if target is None or target.type != "object_pattern":
                return
        modules, aliases = facts_imports.read(node, self.aliases)
        self.modules |= modules
        self.aliases |= aliases
        self.wholes = self.wholes or any(callee.whole for callee in aliases.values())
        for name, origin in facts_imports.foreign(node) if value is None or value.type == "call_expression" else ():
            self.foreign[name] = origin
            if name not in KNOWN and name not in aliases:
                self.aliases[name] = borrowed(name)
        if value is not None and value.type == "call_expression":
            callee = resolve(value.child_by_field_name("function"), self.aliases)
            suite = callee is not None and callee.root in SUITES
            if suite and (given := read(value.child_by_field_name("arguments"), self.handles)) is not None:
                self.handles[text(node.child_by_field_name("name"))] = (*given.outer, given.title)

    def hoist(self, node: Node) -> None:
        """Learn from functions that are declared in a file, perhaps after their use."""
        children = [(child, child.type) for child in node.named_children]
        declared = [declaration(child, kind) for child, kind in children if kind in DECLARING]
        functions = [one for one in declared if one is not None and may_stand(one)]
        for child, kind in children if functions else ():
            if kind == "import_statement":
                self.note(child)
        for one in functions:
            self.wrap(one, one)

    def wrap(self, node: Node, function: Node) -> None:
        """Note a function that stands for tests: what its calls are given, and not its body, declares them."""
        if (callee := valued(function, self.aliases)) is not None:
            self.aliases[text(node.child_by_field_name("name"))] = callee
            self.wrappers.add(node.start_byte)

    def learn(self, node: Node, kind: str, stack: list[Step]) -> None:
        """Learn from an export, a variable, an assignment that may be an export, or a way out of what follows."""
        if kind == "if_statement":
            follow(node, stack)
        elif kind == "variable_declarator":
            self.note(node)
        elif kind == "export_statement":
            self.offer(node, node.child_by_field_name("value"))
            if module := string_of(node.child_by_field_name("source")):
                self.modules.add(module)
        elif facts_exports.is_common(node):
            self.offer(node, node.child_by_field_name("right"))

    def offer(self, node: Node, value: Node | None) -> None:
        """Note what a file hands on.  value: perhaps a function that needs no name."""
        self.exports.append(node)
        if value is not None and value.type in FUNCTIONS and valued(value, self.aliases) is not None:
            self.wrappers.add(value.start_byte)

    def repeats(self, call: Node) -> bool:
        """Whether callbacks given to this call run once an element; also notes what it is called on."""
        function = call.child_by_field_name("function")
        if function is None or function.type != "member_expression":
            if module := required(call):
                self.modules.add(module)
            return False
        target = function.child_by_field_name("object")
        if target is not None and target.type == "identifier" and text(target) in TELLING:
            self.uses.add(text(target))
        return text(function.child_by_field_name("property")) in EACH

    def call(self, node: Node, *, loop: bool) -> Call | None:
        """Read a call that registers a suite or a test; None for any other."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        callee = resolve(function, self.aliases) or tester(function, arguments)
        if callee is None or callee.makes:
            return None
        annotated = annotation(node, callee, self.makes_suite) if callee.title is None else None
        at = title_at(arguments) if callee.root[0] == "@" and callee.title is None else callee.title or 0
        given = read(arguments, self.handles, at)
        if annotated is not None and (given is None or given.form != "function"):
            return annotated
        if given is None or ((callee.sub or callee.title is not None) and not given.registers):
            return None
        if callee.root[0] == "@":
            if not given.registers or not ALLOWED.issuperset(callee.modifiers):
                return None
            self.borrowed.add(callee.root[1:])
        if callee.extended and not evident(arguments):
            return None
        self.tell(function)
        fact = described(node, callee, given)
        if at and callee.root[0] == "@":
            fact["at"] = at
        if loop:
            fact["loop"] = True
        if annotated is not None:
            fact["says"] = annotated["says"]
        self.enter(fact, callee, given, arguments)
        return depending(fact) if annotated is not None and "when" in annotated else fact

    def enter(self, fact: CallFact, callee: Callee, given: Arguments, arguments: Node | None) -> None:
        """Add what stands inside a suite or a test, and whether that makes it depend on something."""
        is_suite = suite(callee) or callee.root[0] == "@"
        if is_suite or callee.extended:
            inside = [inner for argument in given.inside for inner in self.walk(argument)]
            # a call with a member of its own is a suite if it surely holds tests; what a test borrows are assertions
            if is_suite or any("root" in inner and inner["root"][0] != "@" for inner in inside):
                fact["calls"] = inside
        if given.depends or (not is_suite and leaves(arguments)):
            fact["when"] = True
        raw = (arguments.text if arguments is not None else None) or b""
        if is_suite or not any(method in raw for method in METHODS):
            return
        if inner := [inner for argument in given.inside for inner in self.nested(argument)]:
            fact["subtests"] = inner

    def makes_suite(self, call: Node | None) -> bool:
        """Whether a call makes a suite."""
        return call is not None and suite(resolve(call.child_by_field_name("function"), self.aliases))

    def nested(self, argument: Node) -> Iterator[Call]:
        """Calls in the body of a test, if it calls methods of the object it is given that register tests."""
        for function in (value for _, value in members(argument)) if argument.type == "object" else (argument,):
            name = given_to(function)
            body = function.child_by_field_name("body") if name else None
            raw = (body.text if body is not None else None) or b""
            if any(f"{name}.{method}".encode() in raw for method in SUBTESTS):
                hidden = self.aliases.pop(name, None)
                yield from self.walk(function)
                self.aliases |= {name: hidden} if hidden is not None else {}

    def tell(self, function: Node | None) -> None:
        """Note a global object of a runner that a callee begins with: it is as good as an import."""
        while function is not None and function.type in ("member_expression", "call_expression"):
            function = function.child_by_field_name("object" if function.type == "member_expression" else "function")
        if function is not None and function.type == "identifier" and (name := text(function)) in GLOBALS:
            self.modules |= {name} & RUNNERS
