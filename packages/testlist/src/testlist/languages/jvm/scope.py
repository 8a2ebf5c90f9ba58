"""What the runners of the JVM share: each looks for its own tests in the same files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from testlist.interface import Claim, Signal
from testlist.languages.jvm.config_build_files import config_language
from testlist.languages.jvm.resolve import Resolver
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class JvmScope:
    """One runner in one repository."""

    resolver: Resolver
    framework: str

    def wants(self, path: str) -> bool:
        """By folder and name."""
        return self.resolver.wants(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that bases and annotations come from."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Every runner looks for its own tests."""
        return Claim(Signal.IMPORT)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests of this runner."""
        return self.resolver.tests(owned, facts, self.framework)


@dataclass(frozen=True, slots=True)
class JvmFramework:
    """A runner of the JVM as a framework."""

    name: str
    shared: bool = field(default=True, init=False)
    languages: frozenset[str] = field(default=frozenset({"java", "kotlin", "groovy"}), init=False)

    def config_language(self, path: str) -> str | None:
        """Build files, which name projects and choose the runner behind kotlin.test, and commands."""
        return config_language(path)

    def scope(self, project: Project) -> JvmScope:
        """List the sources of the repository."""
        return JvmScope(Resolver.of(project), self.name)
