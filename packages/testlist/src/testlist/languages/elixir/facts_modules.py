"""One pass over an Elixir file, from module to module: what stands where."""

from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from testlist.languages.elixir.facts_calls import arguments, block, called, option, pairs, title
from testlist.languages.elixir.facts_found import Found, Place
from testlist.languages.elixir.facts_loops import elements
from testlist.languages.elixir.facts_tags import Tags, atoms
from testlist.languages.elixir.facts_tests import declared, doctest, is_declaration
from testlist.languages.elixir.vocabulary import (
    APART,
    BRANCHES,
    DOCTESTS,
    FUNCTIONS,
    LOOPS,
    REQUIRES,
    SETTINGS,
    USING,
    USING_BLOCK,
)
from testlist.sandbox.syntax import named, text

DEPTH: Final = 100
#: nodes without calls of interest
LEAVES: Final = frozenset(
    {"string", "charlist", "sigil", "atom", "quoted_atom", "alias", "integer", "float", "identifier", "boolean", "nil",
     "list", "map", "tuple", "keywords", "bitstring", "access_call", "dot", "stab_arguments"}
)  # fmt: skip


class Walk(Found):
    """The way through a file."""

    def below(self, node: Node | None, place: Place) -> None:
        """Look at the children of a node, in their order."""
        if node is not None and place.depth < DEPTH:
            inner = place._replace(depth=place.depth + 1)
            for child in named(node):
                self.look(child, inner)

    def look(self, node: Node, place: Place) -> None:
        """Look at one node."""
        if node.type == "call":
            self.call(node, called(node), place)
        elif node.type == "unary_operator":
            operand = node.child_by_field_name("operand")
            if operand is not None and operand.type == "call" and text(node).startswith("@"):
                place.tags.read(operand, when=place.when)
        elif node.type not in LEAVES:
            self.below(node, place)

    def call(self, node: Node, name: str, place: Place) -> None:
        """Look at a call."""
        if name in CALLS:
            CALLS[name](self, node, place)
        elif name in FUNCTIONS:
            self.function(node, place)
        elif name in DOCTESTS:
            self.keep(doctest(node, self.names, place.module), place)
        elif is_declaration(node, name):
            self.keep(declared(node, place.module), place)
        elif name in BRANCHES:
            self.inside(node, place._replace(when=True))
        elif name in SETTINGS:
            self.excludes += atoms(option(node, "exclude"))
        elif name in REQUIRES:
            self.requires += [one.text for one in map(title, arguments(node)[:1]) if one.known]
        elif name not in APART:
            self.other(node, name, place)

    def other(self, node: Node, name: str, place: Place) -> None:
        """A call that no library is known for: it may be a macro of the repository."""
        if name.startswith(LOOPS):
            place = place._replace(loop=True, cases=elements(node, place.cases))
        elif "." not in name and place.declares:
            self.calls.add(name)
            if block(node) is not None and arguments(node)[:1] and title(arguments(node)[0]).known:
                self.keep({**declared(node, place.module), "word": name}, place)
        self.inside(node, place)

    def inside(self, node: Node, place: Place) -> None:
        """Look at what a call is given: its block, and functions among its arguments."""
        for child in named(node):
            if child.type in ("do_block", "arguments"):
                self.below(child, place)
        for word, value in pairs(arguments(node)):
            if word in ("do", "else"):
                self.look(value, place)

    def module(self, node: Node, place: Place) -> None:
        """`defmodule A do`."""
        name = self.names.within(place.module, next(iter(arguments(node)), None))
        if name and not place.macro:
            self.modules.setdefault(name, {"name": name, "uses": []})
            known = self.names.scope()
            self.below(block(node), place._replace(module=name, describe=None, tags=Tags()))
            self.names.known = known

    def function(self, node: Node, place: Place) -> None:
        """A function or macro: only what it quotes matters."""
        head = next(iter(arguments(node)), None)
        while head is not None and head.type == "binary_operator":  # `when`
            head = next(named(head), None)
        if head is None or place.macro or place.module not in self.modules:
            return
        name = called(head) if head.type == "call" else text(head)
        if name == USING:
            self.modules[place.module].setdefault("offers", [])
        macro = name if called(node) == "defmacro" else USING
        self.inside(node, place._replace(macro=macro, quoted=False, describe=None, tags=Tags()))

    def using(self, node: Node, place: Place) -> None:
        """`using do` of a case template."""
        if place.module and not place.macro:
            self.inside(node, place._replace(macro=USING, quoted=False, describe=None, tags=Tags()))

    def quote(self, node: Node, place: Place) -> None:
        """What a macro writes."""
        if place.macro:
            self.inside(node, place._replace(quoted=True))

    def describe(self, node: Node, place: Place) -> None:
        """`describe "a" do`."""
        given = arguments(node)
        if given:
            self.inside(node, place._replace(describe=title(given[0]).text))
            place.tags.leave()

    def comprehension(self, node: Node, place: Place) -> None:
        """`for a <- list do`."""
        self.inside(node, place._replace(loop=True, cases=elements(node, place.cases)))


CALLS: Final[dict[str, Callable[[Walk, Node, Place], None]]] = {
    "defmodule": Walk.module,
    "use": Found.use,
    "alias": Found.alias,
    "describe": Walk.describe,
    "quote": Walk.quote,
    "for": Walk.comprehension,
    USING_BLOCK: Walk.using,
}
