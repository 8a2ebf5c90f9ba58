"""The view of one repository that NUnit, xUnit, MSTest and TUnit share: candidates, what they lead to, tests found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from testlist.kit.fold import folded
from testlist.kit.scope import Growing
from testlist.languages.csharp.collect import Collector, Hit, row
from testlist.languages.csharp.config_projects import DotnetProjects
from testlist.languages.csharp.resolve_attributes import KNOWN, Meanings, bare
from testlist.languages.csharp.resolve_types import Types
from testlist.languages.csharp.shape import CSharpFacts, shape
from testlist.model import FactsByPath, Test
from testlist.project import Project, folder_of


@dataclass
class Resolver:
    """One repository."""

    project: Project
    projects: DotnetProjects
    wanted: dict[str, bool] = field(default_factory=dict)
    wanting: Growing[set[str]] = field(default_factory=lambda: Growing(set()))
    found: dict[tuple[str, ...], list[Test]] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Read the projects."""
        return cls(project, DotnetProjects(project))

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """What files are called up to the first sign that is part of no name -> their paths."""
        found: dict[str, list[str]] = {}
        for path in self.project.blobs:
            if path.endswith(".cs"):
                name = path.rpartition("/")[2]
                end = next((number for number, sign in enumerate(name) if not (sign.isalnum() or sign == "_")), 0)
                found.setdefault(name[:end], []).append(path)
        return found

    def wants(self, path: str) -> bool:
        """Whether a file lies in a project of tests."""
        if path not in self.wanted:
            self.wanted[path] = self.projects.wants(path)
        return self.wanted[path]

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files called like bases and attributes that nothing read so far declares."""
        return self.wanting.of(facts, lambda: self.leads(facts))

    def leads(self, facts: FactsByPath) -> set[str]:
        """What is needed beyond what has been read."""
        read = [shape(facts[path]) for path in facts if path.endswith(".cs")]
        known = {one["name"] for fact in read for one in fact.get("types", ())}
        names = {name for fact in read for name in mentioned(fact)} - known
        wanted = {path for name in names for path in self.stems.get(name, ())} | self.beside(facts)
        return wanted - facts.keys()

    def beside(self, facts: FactsByPath) -> set[str]:
        """Files that may hold further parts of partial types in libraries of tests, whose files are no candidates."""
        folders = {
            folder_of(path)
            for path in facts
            if path.endswith(".cs") and any("partial" in one["mods"] for one in shape(facts[path]).get("types", ()))
            if (home := self.projects.folder(path)) is not None
            if not self.projects.is_test(home) and self.projects.is_related(home)
        }
        return {path for path in self.project.blobs if path.endswith(".cs") and folder_of(path) in folders}

    def tests(self, owned: Sequence[str], facts: FactsByPath, framework: str) -> Iterator[Test]:
        """Rows of one framework."""
        key = tuple(owned)
        if key not in self.found:
            self.found[key] = list(self.collect(set(owned), facts))
        return (test for test in self.found[key] if test.framework == framework)

    def collect(self, owned: set[str], facts: FactsByPath) -> Iterator[Test]:
        """Collect every class of candidates and fold what several share to one definition."""
        meanings = Meanings(Types.of(facts, self.projects), self.projects)
        internals = frozenset(self.projects.folder(path) for path, one in facts.items() if shape(one).get("internals"))
        collector = Collector(meanings, internals)
        return map(row, folded(self.hits(owned, meanings, collector), lambda hit: hit.place))

    def hits(self, owned: set[str], meanings: Meanings, collector: Collector) -> Iterator[Hit]:
        """Tests of every class that a candidate declares a part of."""
        for one in meanings.types.all():
            self.project.beat()
            if any(path in owned for path, _ in one.parts):
                yield from collector.hits(one)


def mentioned(facts: CSharpFacts) -> Iterator[str]:
    """Names of bases and attributes in a file that are not the frameworks' own."""
    for one in facts.get("types", ()):
        yield from (dotted.rpartition(".")[2] for dotted, _ in one["bases"])
        for marks in (one["attrs"], *(method["attrs"] for method in one["methods"])):
            names = (bare(dotted) for dotted, _ in marks)
            yield from (full for name in names if name not in KNOWN for full in (name, f"{name}Attribute"))
