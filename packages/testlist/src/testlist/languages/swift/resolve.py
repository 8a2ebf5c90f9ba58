"""Both Swift frameworks' view of one repository: its types, what they inherit, and the tests in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from testlist.kit.naming import worth_reading
from testlist.model import IDLE, FactsByPath, Test
from testlist.project import Project

CASE: Final = "XCTestCase"
#: names by which a class of somebody else's library shows that it is a test case
OUTSIDE: Final = ("TestCase", "Tests", "Test")
STEPS: Final = 12

Fact = dict[str, Any]


@dataclass(slots=True)
class Resolver:
    """One repository.  bases: class -> what it inherits, wherever it is declared or extended."""

    project: Project
    candidates: frozenset[str]
    bases: dict[str, set[str]] | None = None
    skipped: set[tuple[str, ...]] = field(default_factory=set)
    depending: set[tuple[str, ...]] = field(default_factory=set)
    cases: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Choose files, once for both frameworks."""
        if "swift" not in project.shared:
            project.shared["swift"] = cls(project, worth_reading(project.paths, ("swift",)))
        resolver: Resolver = project.shared["swift"]
        return resolver

    def learn(self, facts: FactsByPath) -> None:
        """Take the types of every file that was read."""
        if self.bases is not None:
            return
        self.bases = {}
        for path in self.candidates & facts.keys():
            for found in facts[path].get("types", ()):
                if found["kind"] == "class":
                    self.bases.setdefault(found["name"][-1], set()).update(found["bases"])
                if found.get("status") == "skipped":
                    self.skipped.add(tuple(found["name"]))
                if "when" in found:
                    self.depending.add(tuple(found["name"]))

    def is_case(self, name: str, steps: int = STEPS) -> bool:
        """Whether a class is a test case, through the whole repository."""
        if name == CASE:
            return True
        if name not in self.cases:
            self.cases[name] = False  # a class that inherits itself is none
            bases = (self.bases or {}).get(name)
            if bases is None:
                self.cases[name] = name.endswith(OUTSIDE)
            else:
                self.cases[name] = steps > 0 and any(self.is_case(base, steps - 1) for base in bases)
        return self.cases[name]

    def methods(self, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
        """Test methods of test cases."""
        self.learn(facts)
        for path in owned:
            self.project.beat()
            for function in facts[path].get("functions", ()):
                outer = function["outer"]
                if "marked" not in function and outer and (outer[-1] in (self.bases or {}) and self.is_case(outer[-1])):
                    yield self.row(path, "xctest", function)

    def marked(self, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
        """Functions that bear `@Test`."""
        self.learn(facts)
        for path in owned:
            self.project.beat()
            for function in facts[path].get("functions", ()):
                if "marked" in function:
                    yield self.row(path, "swift-testing", function)

    def row(self, path: str, framework: str, function: Fact) -> Test:
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
