"""What the Swift frameworks share: none has configuration, and a file may hold tests of both."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.swift.language import SWIFT
from testlist.languages.swift.resolve import Resolver
from testlist.languages.swift.shape import shape
from testlist.model import Facts, FactsByPath, Test

Collect = Callable[[Resolver, Sequence[str], FactsByPath], Iterator[Test]]


@dataclass(frozen=True, slots=True)
class SwiftScope(DefaultScope):
    """One framework in one repository.  Swift names no files; classes are found among the candidates."""

    resolver: Resolver
    collect: Collect

    def wants(self, path: str) -> bool:
        """Sources that may hold tests, or classes they inherit from."""
        return path in self.resolver.candidates

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with such functions belong to both, for each function says whose it is."""
        return Claim(Signal.CONTENT) if shape(facts).get("functions") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Its own."""
        return self.collect(self.resolver, owned, facts)


def framework(name: str, collect: Collect) -> DeclaredFramework:
    """A framework whose tests are functions."""
    return DeclaredFramework(
        name, SWIFT.ids, lambda project: SwiftScope(project.once(Resolver.of), collect), shared=True
    )
