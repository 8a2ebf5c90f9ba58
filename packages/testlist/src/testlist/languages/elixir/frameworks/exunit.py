"""ExUnit: `test "..." do` in modules that use ExUnit.Case or a case template, and what is built on it.

A test that a macro writes counts once, where it is written, if test cases use its module or call the macro.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.elixir.collect import FRAMEWORK, Reading
from testlist.languages.elixir.config import config_language
from testlist.languages.elixir.language import ELIXIR
from testlist.languages.elixir.resolve import Resolver
from testlist.languages.elixir.shape import shape
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project


@dataclass(frozen=True, slots=True)
class ExUnitScope(DefaultScope):
    """ExUnit in one repository."""

    resolver: Resolver

    def wants(self, path: str) -> bool:
        """What Mix loads as tests, and what lies beside it."""
        return self.resolver.projects.wants(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files of case templates."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:
        """Files that are called as tests are, and others in which tests stand."""
        if self.resolver.projects.is_test(path):
            return Claim(Signal.NAME)
        return Claim(Signal.CONTENT) if shape(facts).get("tests") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests, each where it is written."""
        known, projects = self.resolver.known(facts), self.resolver.projects
        for path in owned:
            self.resolver.project.beat()
            excluded = frozenset(known.excluded.get(projects.around(path), ()))
            runs = projects.is_test(path) or path in known.required
            yield from Reading(path, known, runs, excluded).rows(shape(facts[path]))


def scope(project: Project) -> ExUnitScope:
    """What is known of the repository."""
    return ExUnitScope(project.once(Resolver.of))


EXUNIT: Final = DeclaredFramework(FRAMEWORK, ELIXIR.ids, scope, configures=config_language)
