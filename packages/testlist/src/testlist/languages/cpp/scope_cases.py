"""What the frameworks of Objective-C share: none has configuration, and a file may hold tests of several."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.cpp.collect_cases import Collect
from testlist.languages.cpp.language import CPP
from testlist.languages.cpp.resolve_cases import Cases
from testlist.languages.cpp.shape import shape
from testlist.model import Facts, FactsByPath, Test


@dataclass(frozen=True, slots=True)
class CasesScope(DefaultScope):
    """One framework in one repository."""

    cases: Cases
    collect: Collect

    def wants(self, path: str) -> bool:
        """Sources that may hold tests."""
        return path in self.cases.candidates

    def needs(self, facts: FactsByPath) -> set[str]:
        """Headers that say what classes inherit."""
        return self.cases.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with tests belong to all, for each test says whose it is."""
        found = shape(facts)
        return Claim(Signal.CONTENT) if found.get("methods") or found.get("examples") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Its own."""
        return self.collect(self.cases, owned, facts)


def framework(name: str, collect: Collect) -> DeclaredFramework:
    """A framework of Objective-C."""
    return DeclaredFramework(name, CPP.ids, lambda project: CasesScope(project.once(Cases.of), collect), shared=True)
