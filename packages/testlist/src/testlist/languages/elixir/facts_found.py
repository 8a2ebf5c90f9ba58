"""What one Elixir file declares, and where in it: in which module and group, in which loop, on what condition."""

from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from testlist.languages.elixir.facts_calls import arguments, listed, option
from testlist.languages.elixir.facts_names import Names
from testlist.languages.elixir.facts_tags import Tags
from testlist.languages.elixir.shape import ModuleFact, TestFact
from testlist.languages.elixir.vocabulary import TEMPLATE
from testlist.sandbox.syntax import text


class Place(NamedTuple):
    """Where calls are looked for.  macro: whose source this is part of; quoted: it is what the macro writes.

    cases: how often the loops around go round, as far as their elements are listed.
    """

    tags: Tags
    module: str = ""
    describe: str | None = None
    macro: str = ""
    quoted: bool = False
    loop: bool = False
    when: bool = False
    cases: int | None = 1
    depth: int = 0

    @property
    def declares(self) -> bool:
        """Whether a test may stand here: in the body of a module, or in what a macro writes."""
        return bool(self.module) and (self.quoted or not self.macro)


@dataclass(slots=True)
class Found:
    """What one file declares."""

    modules: dict[str, ModuleFact] = field(default_factory=dict)
    tests: list[TestFact] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)
    requires: list[str] = field(default_factory=list)
    excludes: list[str] = field(default_factory=list)
    names: Names = field(default_factory=Names)

    def use(self, node: Node, place: Place) -> None:
        """`use A, async: true`; of a macro, what a module that uses it uses thereby."""
        given = arguments(node)
        module = self.modules.get(place.module)
        if not given or module is None:
            return
        name = self.names.full(text(given[0]), place.module)
        if place.macro:
            if place.quoted:
                module.setdefault("offers", []).append(name)
            return
        module["uses"].append(name)
        if name == TEMPLATE:
            module.setdefault("offers", [])
        if (values := option(node, "parameterize")) is not None:
            module["cases"] = listed(values) or 0

    def alias(self, node: Node, place: Place) -> None:
        """`alias A.B`."""
        self.names.alias(node, place.module)

    def keep(self, fact: TestFact, place: Place) -> None:
        """Keep a test with what surrounds it."""
        if not place.declares:
            return
        if "word" not in fact:
            place.tags.apply(fact)
        if place.describe is not None:
            fact["describe"] = place.describe
        if place.macro:
            fact["macro"] = place.macro
        if place.when:
            fact["when"] = True
        if place.loop:
            fact["dynamic"] = True
            if place.cases is not None:
                fact["cases"] = place.cases
        self.tests.append(fact)
