"""What the frameworks of Dart share: none has configuration, and a file may hold tests of several."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.dart.language import DART
from testlist.languages.dart.resolve import Resolver
from testlist.languages.dart.shape import shape
from testlist.model import Facts, FactsByPath, Test

#: rows of one framework, of files that were read
Collect = Callable[[Resolver, Sequence[str], FactsByPath], Iterable[Test]]


@dataclass(frozen=True, slots=True)
class DartScope(DefaultScope):
    """One framework in one repository."""

    resolver: Resolver
    collect: Collect

    def wants(self, path: str) -> bool:
        """Files that the runner takes: `*_test.dart`."""
        return path in self.resolver.candidates

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that these import."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with calls or classes belong to all, for each test says whose it is."""
        return Claim(Signal.CONTENT) if shape(facts) else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Its tests, also those in files that are imported."""
        return self.collect(self.resolver, sorted(facts), facts) if owned else ()


def framework(name: str, collect: Collect) -> DeclaredFramework:
    """A framework of Dart."""
    return DeclaredFramework(name, DART.ids, lambda project: DartScope(project.once(Resolver.of), collect), shared=True)
