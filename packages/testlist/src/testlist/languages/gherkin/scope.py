"""One runner of feature files in one repository: all runners share what is known of its layout."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from testlist.interface import Claim
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.gherkin.collect import Reading, Runner
from testlist.languages.gherkin.config import config_language
from testlist.languages.gherkin.language import GHERKIN
from testlist.languages.gherkin.resolve import Resolver
from testlist.languages.gherkin.shape import shape
from testlist.model import Facts, FactsByPath, Test


@dataclass(frozen=True, slots=True)
class RunnerScope(DefaultScope):
    """One runner."""

    runner: Runner
    resolver: Resolver

    def wants(self, path: str) -> bool:
        """Feature files; each belongs to one runner."""
        return self.resolver.wants(path) and self.resolver.runner(path) == self.runner.name

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with scenarios are its own."""
        return Claim(self.signal) if shape(facts).get("scenarios") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """A row for each scenario."""
        for path in owned:
            self.resolver.project.beat()
            expression = self.resolver.expression(path, self.runner.name)
            yield from Reading(path, self.runner, expression).rows(shape(facts[path]))


def framework(runner: Runner) -> DeclaredFramework:
    """A runner as a framework."""
    return DeclaredFramework(
        runner.name,
        GHERKIN.ids,
        lambda project: RunnerScope(runner, project.once(Resolver.of)),
        configures=config_language,
    )
