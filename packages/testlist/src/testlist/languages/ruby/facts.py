"""Facts of one Ruby file: classes, modules, test methods, and calls that declare groups and examples.

What the items say is written in `shape`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from testlist.languages.ruby import facts_literals
from testlist.languages.ruby.facts_calls import VISIBILITY, declared, is_declaration, mixed_in
from testlist.languages.ruby.facts_notes import Notes
from testlist.languages.ruby.shape import (
    CallItem,
    ClassItem,
    HideItem,
    Item,
    MacroItem,
    MethodItem,
    MixItem,
    ModuleItem,
)
from testlist.languages.ruby.strip import plain, stripped
from testlist.languages.ruby.vocabulary import BLOCKS_OF_EXAMPLES, GROUPS, LOOPS, SHARED, TRANSPARENT
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, named, parse, text

BRANCHES: Final = frozenset({"if", "unless", "case", "if_modifier", "unless_modifier", "conditional"})
REPEATS: Final = frozenset({"while", "until", "for", "while_modifier", "until_modifier"})
#: nodes without calls of interest
LEAVES: Final = frozenset(
    {"string", "heredoc_body", "regex", "simple_symbol", "integer", "identifier", "constant", "scope_resolution",
     "array", "hash", "string_array", "symbol_array", "lambda", "comment", "subshell", "block_parameters"}
)  # fmt: skip
CONSTANTS: Final = frozenset({"constant", "scope_resolution"})
#: receivers on which groups are declared
SPEAKERS: Final = frozenset({"RSpec", "self", "::RSpec", "Minitest::Spec", "RSpec::Core::ExampleGroup"})
TEST: Final = "test"
DEPTH: Final = 80
#: letters of a class name
LONGEST: Final = 300


def extract(source: bytes, language: str) -> Facts:
    """Read one file."""
    reading = Reading()
    items = list(reading.items(tree(stripped(source), language), 0))
    return {**reading.notes.facts(items)}


def tree(source: bytes, language: str) -> Node:
    """Parse a file; one that the grammar stumbles over, without its texts, if these were the reason."""
    root = parse(source, language)
    if not root.has_error or b"<<" not in source:
        return root
    other = parse(plain(source), language)
    return root if other.has_error else other


@dataclass(frozen=True, slots=True)
class Reading:
    """One pass over a file."""

    notes: Notes = field(default_factory=Notes)

    def items(self, block: Node | None, depth: int, *, loop: bool = False) -> Iterator[Item]:
        """Items below a node, those of groups and classes nested in them."""
        if block is None or depth > DEPTH:
            return
        stack = [(child, loop, False, False) for child in reversed(block.named_children)]
        hidden = False
        while stack:
            node, inside, other, when = stack.pop()
            kind = node.type
            if kind == "identifier":
                self.notes.calls.add(word := text(node))
                hidden = word != "public" if word in VISIBILITY else hidden
            if kind == "heredoc_body" and self.notes.evaluates:
                yield from facts_literals.methods(node, TEST)
                self.notes.evaluates = False
            if kind in LEAVES:
                continue
            found = self.item(node, depth, loop=inside)
            if found is None:
                inside, other = inside or kind in REPEATS, other or kind in ("else", "elsif")
                when = when or kind in BRANCHES
                stack += [(child, inside, other, when) for child in reversed(node.named_children)]
                continue
            for item in found:
                if hidden and item["k"] == "def":
                    item["hidden"] = True
                yield stands(item, loop=inside, other=other, when=when)

    def item(self, node: Node, depth: int, *, loop: bool) -> list[Item] | None:
        """Items one node stands for; None to look at its children instead."""
        kind = node.type
        if kind == "call":
            return list(self.call(node, depth, loop=loop))
        if kind == "class":
            return [self.class_of(node, depth)]
        if kind == "module":
            return [ModuleItem(k="module", name=self.named(node), body=self.inside(node, depth))]
        read = READ.get(kind)
        return list(read(self, node, depth)) if read is not None else None

    def named(self, node: Node) -> str:
        """The name of a class or module."""
        name = text(node.child_by_field_name("name"))[:LONGEST]
        self.notes.case(name)
        return name

    def class_of(self, node: Node, depth: int) -> ClassItem:
        """`class A < B`."""
        superclass = node.child_by_field_name("superclass")
        item: ClassItem = {"k": "class", "name": self.named(node), "body": []}
        if (base := facts_literals.base(next(named(superclass), None))) is not None:
            self.notes.case(base)
            item["base"] = base
        item["body"] = self.inside(node, depth)
        return item

    def method(self, node: Node, depth: int) -> Iterator[Item]:
        """A test method, or one that declares examples where its module is mixed in."""
        name = node.child_by_field_name("name")
        if name is not None and text(name).startswith(TEST):
            item = test(text(name), line(name), node)
            if (said := facts_literals.skipping(node.child_by_field_name("body"))) is not None:
                item[said] = True
            yield item
        else:
            yield from self.macro(node, depth)

    def singleton(self, node: Node, depth: int) -> Iterator[Item]:
        """`class << self`: its methods are the class's own, so that none is a test."""
        for item in self.items(node.child_by_field_name("body"), depth + 1):
            if item["k"] == "macro":
                item["own"] = True
            if item["k"] != "def":
                yield item

    def macro(self, node: Node, depth: int) -> Iterator[Item]:
        """A method whose body declares groups or examples."""
        if body := list(self.items(node.child_by_field_name("body"), depth + 1, loop=True)):
            own = node.type == "singleton_method"
            yield MacroItem(k="macro", name=text(node.child_by_field_name("name")), own=own, body=body)

    def assignment(self, node: Node, depth: int) -> Iterator[Item]:
        """`X = Class.new(Y) do ... end` is a class; of others only the value matters."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is None or right.type != "call":
            return
        name = facts_literals.constant(left)
        if name and text(right.child_by_field_name("method")) in ("proc", "lambda"):
            # a body for class_eval
            inside = right.child_by_field_name("block")
            yield ModuleItem(k="module", name=name, body=self.inside(inside, depth) if inside is not None else [])
            return
        for item in self.call(right, depth, loop=False):
            if item["k"] == "class" and name:
                item["name"] = name
            yield item

    def call(self, node: Node, depth: int, *, loop: bool) -> Iterator[Item]:
        """Items of one call."""
        method, receiver = text(node.child_by_field_name("method")), node.child_by_field_name("receiver")
        speaker = text(receiver) if receiver is not None and receiver.type in CONSTANTS else ""
        given = list(named(node.child_by_field_name("arguments")))
        plain = receiver is None or receiver.type == "self" or speaker in SPEAKERS
        self.notes.call(method, speaker, given, bare=receiver is None)
        block = node.child_by_field_name("block")
        if plain and is_declaration(method, given, block):
            item = self.declaration(node, method, given, block, depth)
            if receiver is not None:
                item["on"] = text(receiver)
            yield item
        elif method == "new" and speaker in ("Class", "::Class") and block is not None:
            yield self.anonymous(given, block, depth)
        elif method == "new" and speaker in ("Module", "::Module") and block is not None:
            yield ModuleItem(k="module", name="", body=self.inside(block, depth))
        elif plain and method in VISIBILITY and given:
            yield from self.hide(method, node, given, depth)
        elif method == "define_method" and given:
            yield from self.defined(node, given[0], depth)
        elif names := mixed_in(method, given, plain=plain or (receiver is not None and receiver.type == "identifier")):
            yield MixItem(k="mix", names=names)
        elif not (plain and method in BLOCKS_OF_EXAMPLES):
            yield from self.other(method, receiver, given, block, depth, loop=loop)

    def anonymous(self, given: list[Node], block: Node, depth: int) -> ClassItem:
        """`Class.new(A) do ... end`."""
        item: ClassItem = {"k": "class", "name": "", "body": self.inside(block, depth)}
        if given and (base := facts_literals.base(given[0])) is not None:
            item["base"] = base
        return item

    def hide(self, method: str, node: Node, given: list[Node], depth: int) -> Iterator[Item]:
        """`private :a` and `private def a`."""
        hidden = method != "public"
        names = [facts_literals.title(one) for one in given if one.type in ("simple_symbol", "string")]
        if hidden and (tests := [name for name in names if name.startswith(TEST)]):
            yield HideItem(k="hide", names=tests)
        for item in self.items(node.child_by_field_name("arguments"), depth + 1):
            if hidden and item["k"] == "def":
                item["hidden"] = True
            yield item

    def defined(self, node: Node, given: Node, depth: int) -> Iterator[Item]:
        """`define_method` of a test, or of one that declares examples."""
        block = node.child_by_field_name("block")
        name = facts_literals.beginning(given)
        if name.startswith(TEST):
            item = test(name, line(node), node)
            if not facts_literals.is_plain(given):
                item["loop"] = True
            yield item
        elif block is not None and (body := self.inside(block, depth, loop=True)):
            yield MacroItem(k="macro", name=name, own=False, body=body)

    def inside(self, block: Node, depth: int, *, loop: bool = False) -> list[Item]:
        """Items of a block."""
        return list(self.items(block.child_by_field_name("body"), depth + 1, loop=loop))

    def declaration(self, node: Node, method: str, given: list[Node], block: Node | None, depth: int) -> CallItem:
        """A group or an example."""
        item = declared(node, method, given, block)
        if method in SHARED and facts_literals.is_literal(given):
            item["body"] = self.shared(item["title"], block, depth)
        elif method in GROUPS:
            item["body"] = self.inside(block, depth) if block is not None else []
        elif block is not None and (said := facts_literals.skipping(block.child_by_field_name("body"))) is not None:
            item[said] = True
        return item

    def shared(self, title: str, block: Node | None, depth: int) -> list[Item]:
        """Items of a shared group; what it shares in turn counts only where it is used itself."""
        outer, self.notes.shares = self.notes.shares, self.notes.within.setdefault(title, set())
        body = self.inside(block, depth) if block is not None else []
        self.notes.shares = outer
        return body

    def other(
        self, method: str, receiver: Node | None, given: list[Node], block: Node | None, depth: int, *, loop: bool
    ) -> Iterator[Item]:
        """Any other call: what is declared inside its block counts, perhaps once an element."""
        if receiver is not None and receiver.type == "call":
            yield from self.call(receiver, depth + 1, loop=loop) if depth < DEPTH else ()
        for one in given:
            if one.type == "call" and depth < DEPTH:
                yield from self.call(one, depth + 1, loop=loop)
            elif one.type in ("method", "block_argument"):
                yield from self.items(one, depth + 1)
        if block is not None:
            repeats = loop or method in LOOPS or (receiver is None and method not in TRANSPARENT)
            yield from self.inside(block, depth, loop=repeats)


def stands(item: Item, *, loop: bool, other: bool, when: bool) -> Item:
    """Keep where an item stands."""
    if loop:
        item["loop"] = True
    if other:
        item["other"] = True
    if when:
        item["when"] = True
    return item


def test(name: str, first: int, node: Node) -> MethodItem:
    """A test method.  first: the line of its name."""
    return {"k": "def", "name": name, "line": first, "column": column(node), "end": end_line(node)}


#: nodes with items of their own -> what reads them
READ: Final = {
    "method": Reading.method,
    "singleton_method": Reading.macro,
    "singleton_class": Reading.singleton,
    "assignment": Reading.assignment,
}
