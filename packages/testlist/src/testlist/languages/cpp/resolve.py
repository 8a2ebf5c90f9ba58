"""All C++ frameworks' view of one repository: whose each file is, and the tests found in it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.naming import worth_reading
from testlist.kit.scope import Growing
from testlist.languages.cpp.collect import tests
from testlist.languages.cpp.language import CPP
from testlist.languages.cpp.resolve_includes import Evidence, Includes
from testlist.languages.cpp.resolve_wrappers import Wrappers
from testlist.languages.cpp.shape import CppFacts, TestFact, shape
from testlist.languages.cpp.vocabulary import EITHER
from testlist.model import FactsByPath, Test
from testlist.project import Project

SOURCES: Final = frozenset(CPP.syntaxes[0].suffixes)
#: owner of a macro -> libraries it may come from
MEANINGS: Final = {EITHER: ("catch2", "doctest"), "catch2": ("catch2",), "doctest": ("doctest",), "gtest": ("gtest",)}


@dataclass(slots=True)
class Resolver:
    """One repository."""

    project: Project
    candidates: frozenset[str]
    includes: Includes
    wanted: Growing[set[str]] = field(default_factory=lambda: Growing(set()))
    collected: dict[str, list[Test]] | None = None

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Sort the files of a repository."""
        return cls(project, worth_reading(project.paths, SOURCES), Includes.of(project.paths, SOURCES))

    def needs(self, facts: FactsByPath) -> set[str]:
        """Headers that files with tests lead to, as long as those do not say whose they are."""
        return self.wanted.of(facts, lambda: self.leads(facts))

    def leads(self, facts: FactsByPath) -> set[str]:
        """What is needed beyond what has been read."""
        evidence = Evidence(self.includes, facts)
        wanted: set[str] = set()
        for path in self.candidates & facts.keys():
            self.project.beat()
            for owner in {test["owner"] for test in shape(facts[path]).get("tests", ())}:
                wanted |= evidence.unread(path, MEANINGS.get(owner, ()))
            if shape(facts[path]).get("uses"):
                wanted |= evidence.unread(path, MEANINGS["gtest"])
        return wanted

    def tests(self, facts: FactsByPath) -> dict[str, list[Test]]:
        """Rows of every framework."""
        if self.collected is None:
            self.collected = {name: [] for name in ("gtest", "catch2", "doctest", "boost-test")}
            evidence = Evidence(self.includes, facts)
            files = sorted(path for path in facts if path.rpartition(".")[2] in SOURCES)
            wrappers = Wrappers.of(shape(facts[path]).get("macros", {}) for path in files)
            found = [(path, fact) for path in files for fact in defined(shape(facts[path]), wrappers)]
            usual = self.usual(found, evidence)
            for path, fact in found:
                self.project.beat()
                owner = owner_of(path, fact, evidence, usual)
                if owner is not None:
                    self.collected[owner] += tests(path, owner, fact)
        return self.collected

    def usual(self, found: list[tuple[str, TestFact]], evidence: Evidence) -> Counter[str]:
        """How many files with tests include each library."""
        owners = {(path, MEANINGS.get(fact["owner"], ())) for path, fact in found}
        return Counter(library for path, wanted in owners if (library := evidence.nearest(path, wanted)) is not None)


def defined(facts: CppFacts, wrappers: Wrappers) -> Iterator[TestFact]:
    """Tests of a file, by macros of libraries and of the project."""
    yield from facts.get("tests", ())
    yield from wrappers.tests(facts)


def owner_of(path: str, fact: TestFact, evidence: Evidence, usual: Counter[str]) -> str | None:
    """The framework of one test; None where the macro is somebody else's."""
    owner = fact["owner"]
    if owner == "boost-test":
        return owner
    wanted = MEANINGS[owner]
    nearest = evidence.nearest(path, wanted)
    if nearest is not None:
        return nearest
    if fact.get("loose") or evidence.defines(path, wanted):
        return None
    # sources that a build gives a header, or that others include, say nothing themselves
    likely = max(wanted, key=lambda library: usual[library])
    return likely if usual[likely] else None
