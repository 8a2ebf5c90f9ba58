"""What the Swift frameworks share: none has configuration, and a file may hold tests of both."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from testlist.interface import Claim, Signal
from testlist.languages.swift.resolve import Resolver
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project

Collect = Callable[[Resolver, Sequence[str], FactsByPath], Iterator[Test]]


@dataclass(frozen=True, slots=True)
class SwiftScope:
    """One framework in one repository."""

    resolver: Resolver
    collect: Collect

    def wants(self, path: str) -> bool:
        """Sources that may hold tests, or classes they inherit from."""
        return path in self.resolver.candidates

    def needs(self, facts: FactsByPath) -> set[str]:  # noqa: ARG002 - the interface has it
        """Swift names no files; classes are found among the candidates."""
        return set()

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with such functions belong to both, for each function says whose it is."""
        return Claim(Signal.CONTENT) if facts.get("functions") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Its own."""
        return self.collect(self.resolver, owned, facts)


@dataclass(frozen=True, slots=True)
class SwiftFramework:
    """A framework whose tests are functions."""

    name: str
    collect: Collect
    shared: bool = field(default=True, init=False)
    languages: frozenset[str] = field(default=frozenset({"swift"}), init=False)

    def config_language(self, path: str) -> str | None:  # noqa: ARG002 - the interface has it
        """It has no configuration."""
        return None

    def scope(self, project: Project) -> SwiftScope:
        """The same everywhere, but for where sources lie."""
        return SwiftScope(Resolver.of(project), self.collect)
