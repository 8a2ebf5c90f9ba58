"""Facts of one JavaScript or TypeScript file: imports, and a tree of the calls that register tests.

A call is a dict: `root` and `mods` (see Callee), `title`, `line`, `column`, `end`; `body` if it was given
something to run, `loop` inside a loop, `options` that are set to true, and `calls` inside a suite.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tree_sitter import Node

from tasks.inventory.javascript import imports
from tasks.inventory.javascript.callee import SUITES, Callee, resolve
from tasks.inventory.javascript.literals import title_of
from tasks.inventory.model import Facts
from tasks.inventory.syntax import column, end_line, line, named, parse, text

LOOPS: Final = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
#: methods whose callback runs once an element
EACH: Final = frozenset({"forEach", "map", "flatMap", "filter", "reduce", "each", "forEachSeries"})
FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
LITERALS: Final = frozenset({"string", "template_string"})
#: arguments that are never titles
NO_TITLE: Final = FUNCTIONS | {
    "object",
    "array",
    "number",
    "regex",
    "true",
    "false",
    "null",
    "undefined",
    "spread_element",
}
#: objects whose use tells the runner
TELLING: Final = frozenset({"jest", "vi", "cy", "sinon", "jasmine", "QUnit"})
#: nodes that hold no calls of interest
LEAVES: Final = frozenset(
    {"string", "template_string", "regex", "number", "comment", "type_annotation", "interface_declaration",
     "type_alias_declaration", "import_statement", "identifier", "property_identifier"}
)  # fmt: skip


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"imports": modules, "uses": telling objects, "calls": calls}."""
    reading = Reading()
    calls = list(reading.walk(parse(source, language)))
    return {"imports": sorted(reading.modules), "uses": sorted(reading.uses), "calls": calls}


@dataclass(slots=True)
class Reading:
    """State of one pass over a file, in source order, so that an alias is known before it is used."""

    aliases: dict[str, Callee] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)

    def walk(self, node: Node, *, loop: bool = False) -> Iterator[dict[str, Any]]:
        """Calls below a node, those inside suites nested in them."""
        # a stack of its own: the nesting of a hostile file is not bounded by ours
        stack = [(child, loop) for child in reversed(node.named_children)]
        while stack:
            child, inside = stack.pop()
            if child.type == "import_statement":
                self.note(child)
            if child.type in LEAVES:
                continue
            if child.type == "variable_declarator":
                self.note(child)
            elif child.type == "call_expression":
                found = self.call(child, loop=inside)
                if found is not None:
                    yield found
                    continue
                inside = inside or self.repeats(child)
            inside = inside or child.type in LOOPS
            stack += [(grandchild, inside) for grandchild in reversed(child.named_children)]

    def note(self, node: Node) -> None:
        """Learn from an import or a variable."""
        modules, aliases = imports.read(node, self.aliases)
        self.modules |= modules
        self.aliases |= aliases

    def repeats(self, call: Node) -> bool:
        """Whether callbacks given to this call run once an element; also notes what it is called on."""
        function = call.child_by_field_name("function")
        if function is None or function.type != "member_expression":
            return False
        if (target := text(function.child_by_field_name("object"))) in TELLING:
            self.uses.add(target)
        return text(function.child_by_field_name("property")) in EACH

    def call(self, node: Node, *, loop: bool) -> dict[str, Any] | None:
        """Read a call that registers a suite or a test; None for any other."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if arguments is None or arguments.type != "arguments":
            return None
        given = list(named(arguments))
        callee = resolve(function, self.aliases) or tester(function, given)
        if callee is None or not given or not titled(given):
            return None
        fact: dict[str, Any] = {"root": callee.root, "mods": list(callee.modifiers), "title": title_of(given[0])}
        fact |= {"line": line(node), "column": column(node), "end": end_line(node)}
        fact |= {"body": True} if any(argument.type != "object" for argument in given[1:]) else {}
        fact |= {"loop": True} if loop else {}
        if options := [key for argument in given[1:] for key in truths(argument)]:
            fact["options"] = options
        if callee.root in SUITES or "describe" in callee.modifiers:
            fact["calls"] = [inner for argument in given[1:] for inner in self.walk(argument)]
        return fact


def titled(given: list[Node]) -> bool:
    """Whether arguments are those of a test: a title, and something to run if the title is no literal."""
    first = given[0]
    if first.type in LITERALS or (first.type == "binary_expression" and "+" in text(first)):
        return True
    return (
        first.type not in NO_TITLE
        and len(given) > 1
        and given[1].type in FUNCTIONS | {"identifier", "call_expression", "object"}
    )


def tester(function: Node | None, given: list[Node]) -> Callee | None:
    """`ruleTester.run(name, rule, {valid, invalid})`: one definition, many cases."""
    if function is None or function.type != "member_expression" or len(given) < 3 or given[0].type not in LITERALS:
        return None
    target = text(function.child_by_field_name("object"))
    runs = text(function.child_by_field_name("property")) == "run" and "tester" in target.lower()
    return Callee("test", ("each",)) if runs else None


def truths(argument: Node) -> Iterator[str]:
    """Keys of an options object that are switched on, such as {skip: true} or {skip: "reason"}."""
    for pair in named(argument) if argument.type == "object" else ():
        value = pair.child_by_field_name("value")
        if pair.type == "pair" and value is not None and value.type in ("true", "string"):
            yield text(pair.child_by_field_name("key"))
