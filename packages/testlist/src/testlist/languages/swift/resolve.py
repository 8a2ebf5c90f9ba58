"""Both Swift frameworks' view of one repository: its types, what they inherit, and which are skipped."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.hierarchy import Hierarchy
from testlist.kit.naming import worth_reading
from testlist.languages.swift.language import SWIFT
from testlist.languages.swift.shape import shape
from testlist.model import FactsByPath
from testlist.project import Project

CASE: Final = "XCTestCase"
#: names by which a class of somebody else's library shows that it is a test case
OUTSIDE: Final = ("TestCase", "Tests", "Test")


@dataclass(slots=True)
class Resolver:
    """One repository.  skipped, depending: full names of types that are, whatever stands in them."""

    project: Project
    candidates: frozenset[str]
    classes: Hierarchy = field(default_factory=lambda: Hierarchy(CASE, lambda name: name.endswith(OUTSIDE)))
    learnt: bool = False
    skipped: set[tuple[str, ...]] = field(default_factory=set)
    depending: set[tuple[str, ...]] = field(default_factory=set)

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Choose files."""
        return cls(project, worth_reading(project.paths, SWIFT.suffixes))

    def learn(self, facts: FactsByPath) -> None:
        """Take the types of every file that was read, once for both frameworks."""
        if self.learnt:
            return
        self.learnt = True
        for path in self.candidates & facts.keys():
            for found in shape(facts[path]).get("types", ()):
                if found["kind"] == "class":
                    self.classes.declare(found["name"][-1], found["bases"])
                if found.get("status") == "skipped":
                    self.skipped.add(tuple(found["name"]))
                if "when" in found:
                    self.depending.add(tuple(found["name"]))

    def skips(self, outer: Sequence[str]) -> bool:
        """Whether a type around a test is skipped."""
        return not self.skipped.isdisjoint(around(outer))

    def depends(self, outer: Sequence[str]) -> bool:
        """Whether a condition decides on a type around a test."""
        return not self.depending.isdisjoint(around(outer))

    def is_case(self, outer: Sequence[str]) -> bool:
        """Whether the type that a method stands in is a class that ends in a test case."""
        return bool(outer) and outer[-1] in self.classes.bases and self.classes.ends(outer[-1])


def around(outer: Sequence[str]) -> set[tuple[str, ...]]:
    """Full names of the types around a test."""
    return {tuple(outer[:length]) for length in range(1, len(outer) + 1)}
