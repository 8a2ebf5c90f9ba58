"""The facts of a feature file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts


class TableFact(TypedDict):
    """A table of examples.  rows: those below its head; tags: its own."""

    rows: int
    tags: NotRequired[list[str]]


class RuleFact(TypedDict):
    """A rule around scenarios."""

    name: str
    tags: NotRequired[list[str]]


class ScenarioFact(Placed):
    """A scenario.  rule: place of the rule around it in the list of these; tags: its own, without `@`."""

    name: str
    rule: NotRequired[int]
    tags: NotRequired[list[str]]
    tables: NotRequired[list[TableFact]]


class GherkinFacts(TypedDict, total=False):
    """One file; what is empty is left out.  feature: its title; tags: of the feature."""

    feature: str
    tags: list[str]
    rules: list[RuleFact]
    scenarios: list[ScenarioFact]


def shape(facts: Facts) -> GherkinFacts:
    """Facts by their types."""
    return cast(GherkinFacts, facts)
