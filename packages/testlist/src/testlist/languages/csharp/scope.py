"""What the C# frameworks share: they differ in their attributes and in the classes they take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from testlist.interface import Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.csharp.config_projects import config_language
from testlist.languages.csharp.language import CSHARP
from testlist.languages.csharp.resolve import Resolver
from testlist.model import FactsByPath, Test


@dataclass(slots=True)
class DotnetScope(DefaultScope):
    """One framework in one repository.  Which method is whose is told by its attributes."""

    signal: ClassVar[Signal] = Signal.CONFIG

    framework: str
    resolver: Resolver

    def wants(self, path: str) -> bool:
        """C# files of test projects."""
        return self.resolver.wants(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that bases and attributes come from."""
        return self.resolver.needs(facts)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Methods with its attributes."""
        return self.resolver.tests(owned, facts, self.framework)


def framework(name: str) -> DeclaredFramework:
    """NUnit, xUnit or MSTest; MSBuild files configure it."""
    return DeclaredFramework(
        name,
        CSHARP.ids,
        lambda project: DotnetScope(name, project.once(Resolver.of)),
        shared=True,
        configures=config_language,
    )
