"""One repository of Scala: which classes a run makes tests of, by which framework, and what they are built on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from testlist.kit.scope import Growing
from testlist.languages.scala.config import SUFFIX, is_candidate
from testlist.languages.scala.resolve_kinds import Kinds
from testlist.languages.scala.resolve_names import Names
from testlist.languages.scala.shape import shape
from testlist.languages.scala.vocabulary_dialects import Dialect
from testlist.model import FactsByPath
from testlist.project import Project

#: files of one name that are looked at
MANY: Final = 20


@dataclass(slots=True)
class Known:
    """What all files say together.  passes: methods that pass a title and a body on, by name."""

    names: Names = field(default_factory=Names)
    passes: dict[str, str] = field(default_factory=dict)


@dataclass
class Resolver:
    """One repository.  dialects: those of all frameworks, before any file is read."""

    project: Project
    dialects: list[Dialect] = field(default_factory=list)
    growing: Growing[Known] = field(default_factory=lambda: Growing(Known()))
    held: Growing[dict[int, list[Dialect]]] = field(default_factory=lambda: Growing({}))

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Nothing is configured."""
        return cls(project)

    def specify(self, dialects: Sequence[Dialect]) -> None:
        """Take those of a framework."""
        self.dialects += dialects

    def known(self, facts: FactsByPath) -> Known:
        """What the files that were read say together."""
        return self.growing.of(facts, lambda: self.learnt(facts))

    def holds(self, facts: FactsByPath) -> dict[int, list[Dialect]]:
        """The frameworks that the tests of each class run in, by the id of its fact: asked when all files are read."""
        return self.held.of(facts, lambda: Kinds(self.known(facts).names, self.dialects).holds())

    def learnt(self, facts: FactsByPath) -> Known:
        """Work that out."""
        known = Known()
        paths = [path for path in sorted(facts) if path.endswith(SUFFIX)]
        for path in paths:
            known.names.learn(path, shape(facts[path]))
            for found in known.names.all(path):
                for name, word in found.item.get("passes", {}).items():
                    known.passes.setdefault(name, word)
        self.project.beat()
        return known

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """File name without suffix -> paths."""
        found: dict[str, list[str]] = {}
        for path in self.project.paths:
            if path.endswith(SUFFIX):
                found.setdefault(path.rpartition("/")[2].removesuffix(SUFFIX), []).append(path)
        return found

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that are called like a class which something is built on, and which nothing read so far declares."""
        simple = self.known(facts).names.simple
        bases = {
            base.rpartition(".")[2]
            for path in facts
            if path.endswith(SUFFIX)
            for found in self.known(facts).names.all(path)
            for base in found.item.get("bases", ())
        }
        names = {name for name in bases if name not in simple}
        return {path for name in names for path in sorted(self.stems.get(name, ()))[:MANY]} - facts.keys()

    def followed(self, facts: FactsByPath) -> Iterator[str]:
        """Files that were read for the classes in them alone."""
        return (path for path in sorted(facts) if path.endswith(SUFFIX) and not is_candidate(path))
