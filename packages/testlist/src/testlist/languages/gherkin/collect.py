"""Rows of feature files: scenarios, and outlines with the number of their examples."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from testlist.kit.rows import row
from testlist.languages.gherkin.resolve_tags import Expression
from testlist.languages.gherkin.shape import GherkinFacts, ScenarioFact, TableFact
from testlist.model import IDLE, Test


@dataclass(frozen=True, slots=True)
class Runner:
    """What a runner makes of tags by itself.

    meant: tag -> status; depends: whether a tag is a condition; lists_left_out: scenarios that its
    configuration leaves out are listed, as skipped.
    """

    name: str
    meant: Mapping[str, str] = field(default_factory=dict)
    depends: Callable[[str], bool] = lambda _: False
    lists_left_out: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """One file.  expression: a run takes scenarios for which it holds."""

    path: str
    runner: Runner
    expression: Expression | None

    def rows(self, facts: GherkinFacts) -> Iterator[Test]:
        """Its scenarios."""
        feature = [facts["feature"]] if facts.get("feature") else []
        outer = self.telling(facts.get("tags", ()))
        rules = [(rule["name"], outer | self.telling(rule.get("tags", ()))) for rule in facts.get("rules", ())]
        for fact in facts.get("scenarios", ()):
            title, tags = rules[fact["rule"]] if "rule" in fact else ("", outer)
            suites = [*feature, title] if title else feature
            yield self.row(fact, suites, tags | self.telling(fact.get("tags", ())))

    def telling(self, tags: Collection[str]) -> frozenset[str]:
        """Tags that make a difference; a file may have very many others."""
        names = self.expression.names if self.expression is not None else frozenset[str]()
        meant, depends = self.runner.meant, self.runner.depends
        return frozenset(tag for tag in tags if tag in names or tag in meant or depends(tag))

    def row(self, fact: ScenarioFact, suites: list[str], tags: frozenset[str]) -> Test:
        """One scenario.  A table may be left out; what is true of all tables is true of the scenario."""
        tables = fact.get("tables", [])
        parts = [tags | self.telling(one.get("tags", ())) for one in filled(tables)] or [tags]
        statuses = {self.status(part) for part in parts}
        status = statuses.pop() if len(statuses) == 1 else "active"
        is_left_out = self.expression is not None and not any(map(self.expression.holds, parts))
        never = status in IDLE
        return row(
            self.runner.name,
            self.path,
            suites,
            fact["name"],
            fact,
            status="skipped" if is_left_out and self.runner.lists_left_out and not never else status,
            dynamic=bool(tables),
            cases=sum(one["rows"] for one in tables) or None,
            depends=is_left_out or all(any(map(self.runner.depends, part)) for part in parts),
            never=never,
        )

    def status(self, tags: Collection[str]) -> str:
        """The status that tags give; skipped before others."""
        found = {self.runner.meant[tag] for tag in tags if tag in self.runner.meant}
        return "skipped" if "skipped" in found else min(found, default="active")


def filled(tables: list[TableFact]) -> list[TableFact]:
    """Tables with examples."""
    return [one for one in tables if one["rows"]]
