"""What a Ruby file says beside its items: what it requires, whom it speaks of, and the names that it gives to calls."""

from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node

from testlist.languages.ruby import facts_literals
from testlist.languages.ruby.facts_calls import MIXING, VISIBILITY
from testlist.languages.ruby.shape import Item, RubyFacts
from testlist.languages.ruby.vocabulary import BEHAVES, BLOCKS_OF_EXAMPLES, EXAMPLES, GROUPS, LOOPS, TRANSPARENT

REQUIRES: Final = frozenset({"require", "require_relative", "require_dependency"})
EVALUATING: Final = frozenset({"class_eval", "module_eval"})
DECLARING: Final = GROUPS | EXAMPLES
#: calls that are no use of a method of the repository
KNOWN: Final = (
    GROUPS | EXAMPLES | BLOCKS_OF_EXAMPLES | TRANSPARENT | LOOPS | REQUIRES | VISIBILITY | MIXING
    | {"new", "attr_reader", "attr_accessor", "attr_writer", "puts", "raise", "define_method", "alias_method", "send"}
)  # fmt: skip


@dataclass(slots=True)
class Notes:
    """One file.  within: by the title of a shared group; evaluates: the text that comes next is code."""

    requires: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    shares: set[str] = field(default_factory=set)
    within: dict[str, set[str]] = field(default_factory=dict)
    evaluates: bool = False

    def call(self, method: str, speaker: str, given: list[Node], *, bare: bool) -> None:
        """Keep what a call requires, speaks of, and names to others."""
        if speaker:
            self.uses.add(speaker)
        if method in EVALUATING and any(one.type == "heredoc_beginning" for one in given):
            self.evaluates = True
        self.calls.add(method)
        if method in REQUIRES and given:
            self.requires.add(facts_literals.title(given[0]))
        elif method in BEHAVES or (bare and method not in DECLARING and facts_literals.is_literal(given)):
            self.shares.add(facts_literals.title(given[0]) if facts_literals.is_literal(given) else "")

    def case(self, name: str) -> None:
        """Keep the name of a class by which a file shows that it uses Minitest."""
        if name.startswith(("Minitest::", "MiniTest::")):
            self.uses.add(name)

    def facts(self, items: list[Item]) -> RubyFacts:
        """All of it, with the items."""
        facts: RubyFacts = {"requires": sorted(self.requires), "uses": sorted(self.uses), "items": items}
        if self.shares:
            facts["shares"] = sorted(self.shares)
        if calls := self.calls - KNOWN:
            facts["calls"] = sorted(calls)
        if within := {title: sorted(names) for title, names in sorted(self.within.items()) if names}:
            facts["within"] = within
        return facts
