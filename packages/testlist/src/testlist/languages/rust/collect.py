"""Tests of one Rust file: functions with attributes, and what macros make of their arguments."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.kit.fold import folded
from testlist.kit.rows import Placed, row
from testlist.languages.rust import facts_conditions
from testlist.languages.rust.collect_expand import expand
from testlist.languages.rust.collect_patterns import Budget, Exhausted
from testlist.languages.rust.facts_attributes import Meaning, depends, meaning
from testlist.languages.rust.facts_conditions import Switches
from testlist.languages.rust.facts_tokens import is_name, name_of, place_of
from testlist.languages.rust.resolve_items import at, attribute, is_block, length, pasted, rules, spelled
from testlist.languages.rust.resolve_macros import Macros
from testlist.languages.rust.shape import Attribute, CallItem, Item, MacroItem, Token, Tokens
from testlist.model import IDLE, Test

FRAMEWORK: Final = "cargo-test"
#: macros that use macros that use macros
DEPTH: Final = 24
#: macros of the crate paste, which make names of names
PASTING: Final = frozenset({"paste", "item", "item_with_macros"})


def conditional(test: Test) -> Test:
    """A test that is there under a condition only."""
    return test._replace(conditional=test.status not in IDLE)


def alternatives(tests: Iterable[Test]) -> Iterator[Test]:
    """Tests of which no two are never built together: of one name in one module, conditions let only one stand."""
    seen: set[tuple[tuple[str, ...], str]] = set()
    for test in tests:
        key = (test.suites, test.name)
        if not (test.conditional and key in seen):
            yield test
        if test.conditional:
            seen.add(key)


@dataclass(slots=True)
class Collector:
    """Collects from one file.  own: attributes of the repository that make tests.  switches: its features."""

    path: str
    macros: Macros
    own: Collection[str]
    budget: Budget
    switches: Switches

    def tests(self, items: Sequence[Item], *, depends: bool) -> Iterator[Test]:
        """Tests of the file; what a macro makes twice at one place is one.  depends: on a condition, all of it."""
        found = self.items(items, ())
        once = (alike[-1] for alike in folded(found, lambda test: (test.line, test.column, test.suites, test.name)))
        yield from map(conditional, alternatives(once)) if depends else alternatives(once)

    def items(self, items: Sequence[Item], suites: tuple[str, ...]) -> Iterator[Test]:
        """Tests of items in a module."""
        for item in items:
            if "never" in item or self.switches.never(item.get("features")):
                continue
            found = self.item(item, suites)
            yield from map(conditional, found) if "when" in item else found

    def item(self, item: Item, suites: tuple[str, ...]) -> Iterator[Test]:
        """Tests of one item."""
        if item["k"] == "mod":
            yield from self.items(item["items"], (*suites, item["name"]))
        elif item["k"] == "fn":
            found = meaning(item["attrs"], self.own)
            if found is not None:
                yield self.row(suites, item["name"], found, item)
        elif item["k"] == "call":
            yield from self.call(item, suites)

    def call(self, item: CallItem, suites: tuple[str, ...]) -> Iterator[Test]:
        """Tests a macro makes; none beyond the point where it takes too long."""
        try:
            yield from Expansion(self, item).call(item["name"], item["tokens"], suites, 0)
        except Exhausted:
            return

    def row(self, suites: tuple[str, ...], name: str, found: Meaning, place: Placed) -> Test:
        """One row."""
        return row(
            FRAMEWORK,
            self.path,
            suites,
            name,
            place,
            status=found.status,
            kind=found.kind,
            dynamic=found.dynamic,
            cases=found.cases,
            depends=found.depends,
        )


@dataclass(slots=True)
class Expansion:
    """What one use of a macro leads to."""

    collector: Collector
    item: CallItem

    def call(self, name: str, given: Tokens, suites: tuple[str, ...], depth: int) -> Iterator[Test]:
        """Tests of a macro use: by its definition where the repository has it, else by what it was given."""
        if depth > DEPTH or name == "macro_rules":
            return
        macro = self.collector.macros.find(self.collector.path, name, self.item["line"] + bool(depth))
        if macro is None:
            yield from self.foreign(name, given, suites, depth)
            return
        expanded = expand(macro["rules"], given, self.collector.budget)
        if expanded is not None:
            yield from self.tokens(expanded, suites, depth + 1)
        elif macro["name"] in self.collector.macros.making and given and is_name(given[0]):
            yield self.named(given[0], Meaning(), suites)

    def foreign(self, name: str, given: Tokens, suites: tuple[str, ...], depth: int) -> Iterator[Test]:
        """A macro from elsewhere: most pass on the items they are given."""
        if name in PASTING:
            given = pasted(given)
        found = list(self.tokens(given, suites, depth + 1, always=name == "quickcheck"))
        if name == "cfg_if":
            found = list(map(conditional, found))
        if not found and "test" in name and given and is_name(given[0]) and name_of(given[0]) not in ("fn", "mod"):
            found = [self.named(given[0], Meaning(dynamic=True), suites)]
        yield from found

    def tokens(self, tokens: Tokens, suites: tuple[str, ...], depth: int, *, always: bool = False) -> Iterator[Test]:
        """Tests among tokens read as items.  always: every function is one."""
        attributes: list[Attribute] = []
        index = 0
        while index < len(tokens):
            self.collector.budget.spend()
            word, following = name_of(tokens[index]), at(tokens, index + 1)
            if word == "#" and isinstance(following, list):
                attributes.append(attribute(following))
                index += 2
                continue
            if word == "fn":
                found = Meaning(dynamic=True) if always else meaning(attributes, self.collector.own)
                if found is not None and following is not None and not self.never(attributes):
                    yield self.named(following, found, suites)
            else:
                inner = self.inside(tokens, index, suites, depth, always=always)
                yield from self.under(attributes, inner) if attributes else inner
            if (size := length(tokens, index)) > 1 or word == ";" or is_block(tokens[index]):
                attributes = []
            index += size

    def never(self, attributes: Sequence[Attribute]) -> bool:
        """Whether attributes keep from being built what stands under them."""
        return self.collector.switches.never(facts_conditions.of(attributes))

    def under(self, attributes: Sequence[Attribute], tests: Iterator[Test]) -> Iterator[Test]:
        """Tests of what stands under attributes."""
        if not self.never(attributes):
            yield from map(conditional, tests) if depends(attributes) else tests

    def inside(
        self, tokens: Tokens, index: int, suites: tuple[str, ...], depth: int, *, always: bool
    ) -> Iterator[Test]:
        """Tests of a module, a macro or a block that begins at a place."""
        piece, following, body = tokens[index], at(tokens, index + 1), at(tokens, index + 2)
        if name_of(piece) == "macro_rules" and following == "!" and body is not None:
            made: MacroItem = {
                "k": "macro",
                "name": spelled(body),
                "line": self.item["line"],
                "column": self.item["column"],
                "end": self.item["end"],
                "rules": rules(at(tokens, index + 3)),
            }
            self.collector.macros.add(self.collector.path, made)
            return
        if name_of(piece) == "mod" and is_block(body):
            yield from self.tokens(body[1:], (*suites, spelled(following)), depth, always=always)
        elif is_name(piece) and following == "!" and isinstance(body, list):
            yield from self.call(name_of(piece), body[1:], suites, depth + 1)
        elif is_block(piece):
            # cfg_if and its kin: items inside braces of their own
            yield from self.tokens(piece[1:], suites, depth, always=always)

    def named(self, piece: Token, found: Meaning, suites: tuple[str, ...]) -> Test:
        """A row at the name's place, or at the macro's use where the name comes from its definition."""
        place: Placed = self.item
        if (own := place_of(piece)) is not None:
            place = {"line": own[0], "column": own[1], "end": own[0]}
        return self.collector.row(suites, spelled(piece), found, place)
