"""What the C# frameworks share: they differ in their attributes and in the classes they take."""

from typing import ClassVar

from testlist.interface import Signal
from testlist.kit.scope import DeclaredFramework, ResolvedScope
from testlist.languages.csharp.config_projects import config_language
from testlist.languages.csharp.language import CSHARP
from testlist.languages.csharp.resolve import Resolver


class DotnetScope(ResolvedScope):
    """One framework in one repository.  The attributes of a method show which framework it belongs to."""

    __slots__ = ()

    signal: ClassVar[Signal] = Signal.CONFIG


def framework(name: str) -> DeclaredFramework:
    """NUnit, xUnit, MSTest or TUnit; MSBuild files configure it."""
    return DeclaredFramework(
        name,
        CSHARP.ids,
        lambda project: DotnetScope(project.once(Resolver.of), name),
        shared=True,
        configures=config_language,
    )
