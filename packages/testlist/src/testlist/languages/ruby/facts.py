"""Facts of one Ruby file: classes, modules, test methods, and calls that declare groups and examples.

An item is a dict; `k` says which: class, module, def, mix (an include), hide (methods made private), macro (a
method whose body declares examples) or call.  A call has `m` (the method), `title`, `marks` (metadata that is
set), and `block` if it was given one; `body` holds what stands inside.  `loop` marks what a loop repeats, `when`
what is there or runs under a condition only, `else` what stands in the other branch of one.
"""

from collections.abc import Iterator
from typing import Any, Final

from tree_sitter import Node

from testlist.languages.ruby import facts_literals
from testlist.languages.ruby.facts_calls import MIXING, is_declaration, mixed_in
from testlist.languages.ruby.strip import plain, stripped
from testlist.languages.ruby.vocabulary import BEHAVES, BLOCKS_OF_EXAMPLES, EXAMPLES, GROUPS, LOOPS, SHARED, TRANSPARENT
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, named, parse, text

Item = dict[str, Any]

BRANCHES: Final = frozenset({"if", "unless", "case", "if_modifier", "unless_modifier", "conditional"})
REPEATS: Final = frozenset({"while", "until", "for", "while_modifier", "until_modifier"})
#: nodes without calls of interest
LEAVES: Final = frozenset(
    {"string", "heredoc_body", "regex", "simple_symbol", "integer", "identifier", "constant", "scope_resolution",
     "array", "hash", "string_array", "symbol_array", "lambda", "comment", "subshell", "block_parameters"}
)  # fmt: skip
REQUIRES: Final = frozenset({"require", "require_relative", "require_dependency"})
CONSTANTS: Final = frozenset({"constant", "scope_resolution"})
EVALUATING: Final = frozenset({"class_eval", "module_eval"})
VISIBILITY: Final = frozenset({"private", "protected", "public"})
#: receivers on which groups are declared
SPEAKERS: Final = frozenset({"RSpec", "self", "::RSpec", "Minitest::Spec", "RSpec::Core::ExampleGroup"})
TEST: Final = "test"
DECLARING: Final = GROUPS | EXAMPLES
#: calls that are no use of a method of the repository
KNOWN: Final = (
    GROUPS | EXAMPLES | BLOCKS_OF_EXAMPLES | TRANSPARENT | LOOPS | REQUIRES | VISIBILITY | MIXING
    | {"new", "attr_reader", "attr_accessor", "attr_writer", "puts", "raise", "define_method", "alias_method", "send"}
)  # fmt: skip
DEPTH: Final = 80
#: letters of a class name
LONGEST: Final = 300


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"requires", "uses", "shares": names given to calls, "within": those by shared group, "items"}."""
    reading = Reading()
    items = list(reading.items(tree(stripped(source), language), 0))
    shares: dict[str, Any] = {"shares": sorted(reading.shares)} if reading.shares else {}
    if calls := reading.calls - KNOWN:
        shares["calls"] = sorted(calls)
    if within := {title: sorted(names) for title, names in sorted(reading.within.items()) if names}:
        shares["within"] = within
    return {"requires": sorted(reading.requires), "uses": sorted(reading.uses), **shares, "items": items}


def tree(source: bytes, language: str) -> Node:
    """Parse a file; one that the grammar stumbles over, without its texts, if these were the reason."""
    root = parse(source, language)
    if not root.has_error or b"<<" not in source:
        return root
    other = parse(plain(source), language)
    return root if other.has_error else other


class Reading:
    """One pass over a file."""

    __slots__ = ("calls", "evaluates", "requires", "shares", "uses", "within")

    def __init__(self) -> None:
        self.requires: set[str] = set()
        self.uses: set[str] = set()
        self.calls: set[str] = set()
        self.shares: set[str] = set()
        self.within: dict[str, set[str]] = {}  # by the title of a shared group
        self.evaluates = False  # the text that comes next is code

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
                self.calls.add(word := text(node))
                hidden = word != "public" if word in VISIBILITY else hidden
            if kind == "heredoc_body" and self.evaluates:
                yield from facts_literals.methods(node, TEST)
                self.evaluates = False
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
                if inside or other or when:
                    flags = {"loop": inside, "else": other, "when": when}
                    item |= {flag: True for flag, holds in flags.items() if holds}
                yield item

    def item(self, node: Node, depth: int, *, loop: bool) -> list[Item] | None:
        """Items one node stands for; None to look at its children instead."""
        kind = node.type
        if kind == "call":
            return list(self.call(node, depth, loop=loop))
        if kind in ("class", "module"):
            return [self.class_of(node, depth)]
        read = READ.get(kind)
        return list(read(self, node, depth)) if read is not None else None

    def class_of(self, node: Node, depth: int) -> Item:
        """`class A < B` or `module A`."""
        base = node.child_by_field_name("superclass")
        item: Item = {"k": node.type, "name": text(node.child_by_field_name("name"))[:LONGEST], "line": line(node)}
        if base is not None:
            item["base"] = facts_literals.base(next(named(base), None))
        self.uses |= {
            one for one in (item["name"], item.get("base")) if one and one.startswith(("Minitest::", "MiniTest::"))
        }
        return {**item, "body": list(self.items(node.child_by_field_name("body"), depth + 1))}

    def method(self, node: Node, depth: int) -> Iterator[Item]:
        """A test method, or one that declares examples where its module is mixed in."""
        name = node.child_by_field_name("name")
        if name is not None and text(name).startswith(TEST):
            skip = facts_literals.skipping(node.child_by_field_name("body"))
            place = {"line": line(name), "column": column(node), "end": end_line(node)}
            yield {"k": "def", "name": text(name), **place, **skip}
        else:
            yield from self.macro(node, depth)

    def singleton(self, node: Node, depth: int) -> Iterator[Item]:
        """`class << self`: its methods are the class's own, so that none is a test."""
        for item in self.items(node.child_by_field_name("body"), depth + 1):
            if item["k"] != "def":
                yield {**item, "own": True} if item["k"] == "macro" else item

    def macro(self, node: Node, depth: int) -> Iterator[Item]:
        """A method whose body declares groups or examples."""
        if body := list(self.items(node.child_by_field_name("body"), depth + 1, loop=True)):
            own = node.type == "singleton_method"
            yield {"k": "macro", "name": text(node.child_by_field_name("name")), "own": own, "body": body}

    def assignment(self, node: Node, depth: int) -> Iterator[Item]:
        """`X = Class.new(Y) do ... end` is a class; of others only the value matters."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is None or right.type != "call":
            return
        name = facts_literals.constant(left)
        if name and text(right.child_by_field_name("method")) in ("proc", "lambda"):
            # a body for class_eval
            inside = right.child_by_field_name("block")
            yield {"k": "module", "name": name, "body": self.inside(inside, depth) if inside is not None else []}
            return
        for item in self.call(right, depth, loop=False):
            yield {**item, "name": name} if item["k"] == "class" and name else item

    def call(self, node: Node, depth: int, *, loop: bool) -> Iterator[Item]:
        """Items of one call."""
        method, receiver = text(node.child_by_field_name("method")), node.child_by_field_name("receiver")
        speaker = text(receiver) if receiver is not None and receiver.type in CONSTANTS else ""
        given = list(named(node.child_by_field_name("arguments")))
        plain = receiver is None or receiver.type == "self" or speaker in SPEAKERS
        self.note(method, speaker, given, bare=receiver is None)
        block = node.child_by_field_name("block")
        if plain and is_declaration(method, given, block):
            item = self.declaration(node, method, given, block, depth)
            yield {**item, "on": text(receiver)} if receiver is not None else item
        elif method == "new" and speaker in ("Class", "::Class") and block is not None:
            base = facts_literals.base(given[0]) if given else None
            yield {"k": "class", "name": "", "base": base, "line": line(node), "body": self.inside(block, depth)}
        elif method == "new" and speaker in ("Module", "::Module") and block is not None:
            yield {"k": "module", "name": "", "line": line(node), "body": self.inside(block, depth)}
        elif plain and method in VISIBILITY and given:
            yield from self.hide(method, node, given, depth)
        elif method == "define_method" and given:
            yield from self.defined(node, given[0], depth)
        elif names := mixed_in(method, given, plain=plain or (receiver is not None and receiver.type == "identifier")):
            yield {"k": "mix", "names": names}
        elif not (plain and method in BLOCKS_OF_EXAMPLES):
            yield from self.other(method, receiver, given, block, depth, loop=loop)

    def note(self, method: str, speaker: str, given: list[Node], *, bare: bool) -> None:
        """Keep what a file requires, speaks of, and names to others."""
        if speaker:
            self.uses.add(speaker)
        if method in EVALUATING and any(one.type == "heredoc_beginning" for one in given):
            self.evaluates = True
        self.calls.add(method)
        if method in REQUIRES and given:
            self.requires.add(facts_literals.title(given[0]))
        elif method in BEHAVES or (bare and method not in DECLARING and facts_literals.is_literal(given)):
            self.shares.add(facts_literals.title(given[0]) if facts_literals.is_literal(given) else "")

    def hide(self, method: str, node: Node, given: list[Node], depth: int) -> Iterator[Item]:
        """`private :a` and `private def a`."""
        hidden = method != "public"
        names = [facts_literals.title(one) for one in given if one.type in ("simple_symbol", "string")]
        if hidden and (tests := [name for name in names if name.startswith(TEST)]):
            yield {"k": "hide", "names": tests}
        for item in self.items(node.child_by_field_name("arguments"), depth + 1):
            yield {**item, "hidden": True} if hidden and item["k"] == "def" else item

    def defined(self, node: Node, given: Node, depth: int) -> Iterator[Item]:
        """`define_method` of a test, or of one that declares examples."""
        block = node.child_by_field_name("block")
        name = facts_literals.beginning(given)
        if name.startswith(TEST):
            place = {"line": line(node), "column": column(node), "end": end_line(node)}
            dynamic = {} if facts_literals.is_plain(given) else {"loop": True}
            yield {"k": "def", "name": name, **place, **dynamic}
        elif block is not None and (body := self.inside(block, depth, loop=True)):
            yield {"k": "macro", "name": name, "own": False, "body": body}

    def inside(self, block: Node, depth: int, *, loop: bool = False) -> list[Item]:
        """Items of a block."""
        return list(self.items(block.child_by_field_name("body"), depth + 1, loop=loop))

    def declaration(self, node: Node, method: str, given: list[Node], block: Node | None, depth: int) -> Item:
        """A group or an example."""
        item: Item = {"k": "call", "m": method, "title": facts_literals.titles(given, method)}
        if not item["title"]:  # the text of a group is no name for it
            item["title"] = method if method in GROUPS else facts_literals.anonymous(block)
        item |= {"line": line(node), "column": column(node), "end": end_line(node)}
        if marks := facts_literals.marks(given):
            item["marks"] = [one for one in marks if one != "when"]
            item |= {"when": True} if "when" in marks else {}
        if block is not None or any(one.type == "block_argument" for one in given):
            item["block"] = True
        if block is None and "block" in item:
            item["handed"] = True  # its body is written elsewhere
        if method in SHARED and sum(one.type != "block_argument" for one in given) > 1:
            item["tagged"] = True  # included by metadata, without a word
        if method in SHARED and facts_literals.is_literal(given):
            item["body"] = self.shared(item["title"], block, depth)
        elif method in GROUPS:
            item["body"] = self.inside(block, depth) if block is not None else []
        elif block is not None:
            item |= facts_literals.skipping(block.child_by_field_name("body"))
        return item

    def shared(self, title: str, block: Node | None, depth: int) -> list[Item]:
        """Items of a shared group; what it shares in turn counts only where it is used itself."""
        outer, self.shares = self.shares, self.within.setdefault(title, set())
        body = self.inside(block, depth) if block is not None else []
        self.shares = outer
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


#: nodes with items of their own -> what reads them
READ: Final = {
    "method": Reading.method,
    "singleton_method": Reading.macro,
    "singleton_class": Reading.singleton,
    "assignment": Reading.assignment,
}
