"""Both Swift frameworks' view of one repository: its types, what they inherit, and the tests in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.hierarchy import Hierarchy
from testlist.kit.naming import worth_reading
from testlist.languages.swift.language import SWIFT
from testlist.languages.swift.shape import FunctionFact, shape
from testlist.model import IDLE, FactsByPath, Test
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

    def methods(self, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
        """Test methods of test cases."""
        self.learn(facts)
        for path in owned:
            self.project.beat()
            for function in shape(facts[path]).get("functions", ()):
                outer = function["outer"]
                if "marked" in function or not outer or outer[-1] not in self.classes.bases:
                    continue
                if self.classes.ends(outer[-1]):
                    yield self.row(path, "xctest", function)

    def marked(self, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
        """Functions that bear `@Test`."""
        self.learn(facts)
        for path in owned:
            self.project.beat()
            for function in shape(facts[path]).get("functions", ()):
                if "marked" in function:
                    yield self.row(path, "swift-testing", function)

    def row(self, path: str, framework: str, function: FunctionFact) -> Test:
        """One row."""
        outer = tuple(function["outer"])
        around = {outer[:length] for length in range(1, len(outer) + 1)}
        status = function.get("status") or ("active" if around.isdisjoint(self.skipped) else "skipped")
        return Test(
            file=path,
            framework=framework,
            suites=outer,
            name=function["name"],
            line=function["line"],
            status=status,
            dynamic=function.get("dynamic", False),
            cases=function.get("cases"),
            column=function["column"],
            end_line=function["end"],
            conditional=status not in IDLE and ("when" in function or not around.isdisjoint(self.depending)),
        )
