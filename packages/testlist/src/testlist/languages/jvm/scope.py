"""What the runners of the JVM share: each looks for its own tests in the same files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from testlist.interface import Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.jvm.config_build_files import config_language
from testlist.languages.jvm.language import JVM
from testlist.languages.jvm.resolve import Resolver
from testlist.model import FactsByPath, Test


@dataclass(slots=True)
class JvmScope(DefaultScope):
    """One runner in one repository."""

    signal: ClassVar[Signal] = Signal.IMPORT

    resolver: Resolver
    framework: str

    def wants(self, path: str) -> bool:
        """By folder and name."""
        return self.resolver.wants(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that bases and annotations come from."""
        return self.resolver.needs(facts)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests of this runner."""
        return self.resolver.tests(owned, facts, self.framework)


def framework(name: str) -> DeclaredFramework:
    """A runner.  Build files name projects and choose the runner behind kotlin.test; commands start builds."""
    return DeclaredFramework(
        name,
        JVM.ids,
        lambda project: JvmScope(project.once(Resolver.of), name),
        shared=True,
        configures=config_language,
    )
