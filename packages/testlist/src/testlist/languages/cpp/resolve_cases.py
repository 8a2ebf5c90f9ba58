"""The view that Objective-C's frameworks have of one repository: which classes are test cases, whose specs are."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.hierarchy import Hierarchy
from testlist.kit.naming import speaks_of_tests, worth_reading
from testlist.kit.scope import Growing
from testlist.languages.cpp.shape import CppFacts, shape
from testlist.languages.cpp.vocabulary_objc import CASE, OUTSIDE
from testlist.model import FactsByPath
from testlist.project import Project

SOURCES: Final = frozenset({"m", "mm"})
#: whose `SPEC_BEGIN` it may be: the likelier first
EITHER: Final = ("kiwi", "cedar")


@dataclass(slots=True)
class Cases:
    """One repository.  headers: name of a file without its suffix -> headers that are called so."""

    project: Project
    candidates: frozenset[str]
    headers: dict[str, list[str]]
    classes: Hierarchy = field(default_factory=lambda: Hierarchy(CASE, lambda name: name.endswith(OUTSIDE)))
    wanted: Growing[set[str]] = field(default_factory=lambda: Growing(set()))
    learnt: bool = False
    usual: str | None = None  # whose `SPEC_BEGIN` is in most files, once somebody asks

    @classmethod
    def of(cls, project: Project) -> "Cases":
        """Sort the files of a repository."""
        candidates = worth_reading(project.paths, SOURCES)
        headers: dict[str, list[str]] = {}
        for path in project.paths if candidates else ():
            if path.endswith(".h"):
                headers.setdefault(path.rpartition("/")[2][:-2], []).append(path)
        return cls(project, candidates, headers)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Headers in which classes say what they inherit."""
        return self.wanted.of(facts, lambda: self.leads(facts))

    def leads(self, facts: FactsByPath) -> set[str]:
        """What is needed beyond what has been read: the header of a class, or one that speaks of tests."""
        ends = Ends(
            {one["name"]: one["base"] for path in sorted(facts) for one in shape(facts[path]).get("classes", ())}
        )
        names, wanted = set[str](), set[str]()
        for path in self.candidates & facts.keys():
            self.project.beat()
            found = shape(facts[path])
            own = {ends.of(method["owner"]) for method in found.get("methods", ())} - {CASE}
            names |= own
            if not own <= self.headers.keys():
                wanted.update(self.included(found))
        return wanted.union(*(self.headers.get(name, ()) for name in names)) - facts.keys()

    def included(self, found: CppFacts) -> Iterator[str]:
        """Headers that a file includes, whose names speak of tests."""
        for include in found.get("includes", ()):
            name = include.rpartition("/")[2].removesuffix(".h")
            if speaks_of_tests(name):
                yield from self.headers.get(name, ())

    def learn(self, facts: FactsByPath) -> None:
        """Take the classes of every file that was read, once for all frameworks."""
        if not self.learnt:
            self.learnt = True
            for found in map(shape, facts.values()):
                for one in found.get("classes", ()):
                    self.classes.declare(one["name"], (one["base"],))

    def owner_of(self, found: CppFacts, facts: FactsByPath) -> str:
        """Whose `SPEC_BEGIN` is in a file: the library that it includes, or that most files include."""
        if self.usual is None:
            specs = (one for one in map(shape, facts.values()) if one.get("examples"))
            counted = Counter(owner for one in specs for owner in named_in(one))
            self.usual = max(EITHER, key=lambda one: counted[one])
        named = named_in(found)
        return self.usual if len(named) != 1 else named.pop()

    def is_case(self, name: str) -> bool:
        """Whether a class is a test case."""
        return self.classes.ends(name)


@dataclass(slots=True)
class Ends:
    """What classes end in, as far as anybody says: of a circle the first by name, whoever is asked for first.

    bases: class -> what it inherits; known: what was asked for.
    """

    bases: dict[str, str]
    known: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The last class that a class is known to inherit."""
        chain = {name: None}
        while name in self.bases and name not in self.known and self.bases[name] not in chain:
            name = self.bases[name]
            chain[name] = None
        base, names = self.bases.get(name, ""), list(chain)
        is_round = name not in self.known and base in chain
        end = min(names[names.index(base) :]) if is_round else self.known.get(name, name)
        self.known.update(dict.fromkeys(chain, end))
        return end


def named_in(facts: CppFacts) -> set[str]:
    """The libraries of `SPEC_BEGIN` that the includes of a file name."""
    return {one for one in EITHER for include in facts.get("includes", ()) if one in include.lower()}
