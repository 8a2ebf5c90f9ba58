"""What the Swift frameworks share: none has configuration, and a file may hold tests of both."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.swift.collect import IsTest, collect
from testlist.languages.swift.language import SWIFT
from testlist.languages.swift.resolve import Resolver
from testlist.languages.swift.shape import shape
from testlist.model import Facts, FactsByPath, Test


@dataclass(frozen=True, slots=True)
class SwiftScope(DefaultScope):
    """One framework in one repository.  Swift names no files; classes are found among the candidates."""

    name: str
    resolver: Resolver
    is_test: IsTest

    def wants(self, path: str) -> bool:
        """Sources that may hold tests, or classes they inherit from."""
        return path in self.resolver.candidates

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with such functions belong to both, for each function says whose it is."""
        return Claim(Signal.CONTENT) if shape(facts).get("functions") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Its own."""
        return collect(self.name, self.is_test, self.resolver, owned, facts)


def framework(name: str, is_test: IsTest) -> DeclaredFramework:
    """A framework whose tests are functions.  is_test: which of them."""
    return DeclaredFramework(
        name, SWIFT.ids, lambda project: SwiftScope(name, project.once(Resolver.of), is_test), shared=True
    )
