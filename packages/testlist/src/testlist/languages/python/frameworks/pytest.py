"""pytest: functions and classes by name, as its configuration says.

Candidates, names and status marks come from the Python family; this file says which of the collected
tests are pytest's own: all that do not stand in a unittest.TestCase.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from testlist.interface import Claim, Signal
from testlist.languages.python import config
from testlist.languages.python.resolve import Resolver
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class PytestScope:
    """pytest in one repository."""

    resolver: Resolver

    def wants(self, path: str) -> bool:
        """By python_files and testpaths of the configuration that governs the path."""
        return path.endswith(".py") and self.resolver.scope_of(path).collects(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that base classes, decorators and imported tests come from."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """A candidate is a test file by its name alone."""
        return Claim(Signal.NAME)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """All but the methods of TestCase classes."""
        return self.resolver.tests(owned, facts, framework="pytest", in_case=False)


@dataclass(frozen=True, slots=True)
class Pytest:
    """The framework."""

    name: str = field(default="pytest", init=False)
    shared: bool = field(default=True, init=False)
    languages: frozenset[str] = field(default=frozenset({"python"}), init=False)

    def config_language(self, path: str) -> str | None:
        """pytest.ini and its five other homes, and conftest.py."""
        return config.config_language(path)

    def scope(self, project: Project) -> PytestScope:
        """Read every configuration of the repository."""
        return PytestScope(Resolver.of(project))


PYTEST = Pytest()
