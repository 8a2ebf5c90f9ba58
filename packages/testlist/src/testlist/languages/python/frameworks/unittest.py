"""unittest: `test*` methods of classes whose bases end in a TestCase, through the whole repository.

Where pytest is configured it runs these classes too, so its candidates count; elsewhere unittest's own
discovery pattern `test*.py` is added with every package, and everywhere what a command gives it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from testlist.interface import Claim, Signal
from testlist.languages.python import config
from testlist.languages.python.config_discovery import Told
from testlist.languages.python.resolve import Resolver
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class UnittestScope:
    """unittest in one repository."""

    resolver: Resolver
    told: Told

    def wants(self, path: str) -> bool:
        """Take pytest's candidates, and those of discovery where it is the only runner."""
        return path.endswith(".py") and (self.resolver.scope_of(path).collects(path) or self.told.takes(path))

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that base classes come from."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """A candidate is a test file by its name alone."""
        return Claim(Signal.NAME)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Methods of TestCase classes."""
        return self.resolver.tests(owned, facts, framework="unittest", in_case=True)


@dataclass(frozen=True, slots=True)
class Unittest:
    """The framework."""

    name: str = field(default="unittest", init=False)
    shared: bool = field(default=True, init=False)
    languages: frozenset[str] = field(default=frozenset({"python"}), init=False)

    def config_language(self, path: str) -> str | None:
        """It has no configuration of its own; pytest's decides what is run."""
        return config.config_language(path)

    def scope(self, project: Project) -> UnittestScope:
        """Read every configuration of the repository."""
        resolver = Resolver.of(project)
        spoken_of = any(scope.declared for scope in resolver.scopes) or any(project.named("conftest.py"))
        resolver.told = Told.of(project, discovers=not spoken_of)
        return UnittestScope(resolver, resolver.told)


UNITTEST = Unittest()
