"""Go's testing package: what `go test` would run, by the rules of cmd/go.

Unit: top-level functions Test, Benchmark, Fuzz and Example of `_test.go` files.  Literal `t.Run` calls are
subtests of the function they stand in.  Methods of suites that testify or gocheck run are tests with the type as suite.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.scope import DeclaredFramework, DefaultScope, Growing
from testlist.languages.go.collect import FRAMEWORK, tests
from testlist.languages.go.config_modules import Packages
from testlist.languages.go.language import GO
from testlist.languages.go.resolve import Resolver, Type, is_test
from testlist.languages.go.scope import config_language, is_constrained, is_test_file
from testlist.languages.go.shape import FunctionFact, GoFacts, shape
from testlist.model import FactsByPath, Test
from testlist.project import Project, folder_of

#: what a test is: kind of a function -> (kind of its row, the type of its one parameter); examples say what they print
KINDS: Final = {"Test": ("test", "T"), "Benchmark": ("benchmark", "B"), "Fuzz": ("fuzz", "F")}


@dataclass(slots=True)
class GoScope(DefaultScope):
    """Go in one repository."""

    packages: Packages
    suites: Growing[Resolver]
    wanted: Growing[set[str]] = field(default_factory=lambda: Growing(set()))

    @classmethod
    def of(cls, project: Project) -> "GoScope":
        """Find the modules."""
        packages = Packages(project)
        return cls(packages, Growing(Resolver(packages)))

    def wants(self, path: str) -> bool:
        """`_test.go`, outside folders and files the go tool leaves out."""
        return is_test_file(path)

    def learnt(self, facts: FactsByPath) -> Resolver:
        """The suites of what has been read."""
        return self.suites.of(facts, lambda: Resolver.of(facts, self.packages))

    def needs(self, facts: FactsByPath) -> set[str]:
        """Packages that hold types which are run as suites elsewhere."""
        return self.wanted.of(facts, lambda: self.learnt(facts).needed(self.packages.project.paths))

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Functions, methods of suites, and the subtests under them."""
        for path in owned:
            yield from functions(path, shape(facts[path]))
        run = self.learnt(facts).run()
        for path in facts:
            if path.endswith(".go"):
                yield from methods(path, shape(facts[path]), run)


def functions(path: str, facts: GoFacts) -> Iterator[Test]:
    """Tests of one file that are functions."""
    depends = is_constrained(path, facts)
    for function in facts["functions"]:
        kind = kind_of(function, facts["testing"])
        if kind is not None:
            yield from tests(path, (), function, kind, depends=depends)


def methods(path: str, facts: GoFacts, run: set[tuple[Type, str]]) -> Iterator[Test]:
    """Tests of one file that are methods of suites.  run: methods of types that are run."""
    depends, gocheck = is_constrained(path, facts), facts.get("gocheck", [])
    for method in facts.get("methods", ()):
        suite = Type(folder_of(path), method["type"])
        if (suite, method["name"]) in run and is_test(method, gocheck):
            yield from tests(path, (suite.name,), method, KINDS[method["kind"]][0], depends=depends)


def kind_of(function: FunctionFact, testing: Sequence[str]) -> str | None:
    """Kind of a row, or None for a function `go test` would not run."""
    if function["kind"] == "Example":
        runs = function["output"] and not function["parameters"] and not function["result"]
        return "example" if runs else None
    kind, letter = KINDS[function["kind"]]
    allowed = {f"*{letter}" if name == "." else f"*{name}.{letter}" for name in testing}
    one = function["parameters"]
    return kind if len(one) == 1 and one[0] in allowed and not function["result"] else None


#: the name of its files belongs to it alone
GO_TESTING: Final = DeclaredFramework(FRAMEWORK, GO.ids, GoScope.of, configures=config_language)
