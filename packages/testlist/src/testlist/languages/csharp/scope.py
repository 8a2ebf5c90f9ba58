"""What the C# frameworks share: they differ in their attributes and in the classes they take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from testlist.interface import Claim, Signal
from testlist.languages.csharp import config_projects
from testlist.languages.csharp.resolve import Resolver
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class DotnetScope:
    """One framework in one repository."""

    framework: str
    resolver: Resolver

    def wants(self, path: str) -> bool:
        """C# files of test projects."""
        return self.resolver.wants(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that bases and attributes come from."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Which method is whose is told by its attributes."""
        return Claim(Signal.CONFIG)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Methods with its attributes."""
        return self.resolver.tests(owned, facts, self.framework)


@dataclass(frozen=True, slots=True)
class DotnetFramework:
    """NUnit, xUnit or MSTest, as a framework."""

    name: str
    shared: bool = field(default=True, init=False)
    languages: frozenset[str] = field(default=frozenset({"csharp"}), init=False)

    def config_language(self, path: str) -> str | None:
        """MSBuild files."""
        return config_projects.config_language(path)

    def scope(self, project: Project) -> DotnetScope:
        """Read every project of the repository."""
        return DotnetScope(self.name, Resolver.of(project))
