"""What the C++ frameworks share: none has configuration, and files may hold tests of several."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.cpp.language import CPP
from testlist.languages.cpp.resolve import Resolver
from testlist.languages.cpp.shape import shape
from testlist.model import Facts, FactsByPath, Test

LANGUAGE: Final = frozenset({CPP.syntaxes[0].id})


@dataclass(frozen=True, slots=True)
class CppScope(DefaultScope):
    """One framework in one repository."""

    framework: str
    resolver: Resolver

    def wants(self, path: str) -> bool:
        """Sources that may hold tests."""
        return path in self.resolver.candidates

    def needs(self, facts: FactsByPath) -> set[str]:
        """Headers that show which framework a macro belongs to."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with tests belong to all, for each test says whose it is."""
        found = shape(facts)
        return Claim(Signal.CONTENT) if found.get("tests") or found.get("uses") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Its tests, also those in headers that were needed."""
        return self.resolver.tests(facts)[self.framework] if owned else []


def framework(name: str) -> DeclaredFramework:
    """A framework whose tests are calls of macros."""
    return DeclaredFramework(name, LANGUAGE, lambda project: CppScope(name, project.once(Resolver.of)), shared=True)
