"""Go's testing package: what `go test` would run, by the rules of cmd/go.

Unit: top-level functions Test, Benchmark, Fuzz and Example of `_test.go` files.  Literal `t.Run` calls are
subtests of the function they stand in.  Methods of suites that testify or gocheck run are tests with the type as suite.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from testlist.kit.scope import DeclaredFramework, DefaultScope, Growing
from testlist.languages.go.config_modules import MANIFEST, Packages
from testlist.languages.go.language import GO
from testlist.languages.go.resolve import Resolver, Type, is_test
from testlist.model import Facts, FactsByPath, Test
from testlist.project import folder_of

#: kind of a function -> (kind of its row, the type of its one parameter)
KINDS: Final = {"Test": ("test", "T"), "Benchmark": ("benchmark", "B"), "Fuzz": ("fuzz", "F")}
#: folders the go tool leaves out
IGNORED: Final = ("testdata", "vendor")
#: systems and processors that the end of a file's name confines it to
PLATFORMS: Final = frozenset(
    {"aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd", "plan9",
     "solaris", "wasip1", "windows", "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle",
     "ppc64", "ppc64le", "riscv64", "s390x", "wasm"}
)  # fmt: skip


@dataclass(slots=True)
class GoScope(DefaultScope):
    """Go in one repository."""

    packages: Packages
    wanted: Growing[set[str]] = field(default_factory=lambda: Growing(set()))

    def wants(self, path: str) -> bool:
        """`_test.go`, outside folders and files the go tool leaves out."""
        *folders, name = path.split("/")
        hidden = any(part.startswith(("_", ".")) for part in (*folders, name))
        return name.endswith("_test.go") and not hidden and not set(folders) & set(IGNORED)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Packages that hold types which are run as suites elsewhere."""
        paths = self.packages.project.paths
        return self.wanted.of(facts, lambda: Resolver.of(facts, self.packages).needed(paths))

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Functions, methods of suites, and the subtests under them."""
        for path in owned:
            depends = is_constrained(path, facts[path])
            for function in facts[path]["functions"]:
                kind = kind_of(function, facts[path]["testing"])
                if kind is not None:
                    yield from rows(path, (), function, kind, depends=depends)
        run = Resolver.of(facts, self.packages).run()
        for path in (path for path in facts if path.endswith(".go")):
            depends = is_constrained(path, facts[path])
            gocheck = facts[path].get("gocheck", [])
            for method in facts[path].get("methods", ()):
                suite = Type(folder_of(path), method["type"])
                if (suite, method["name"]) in run and is_test(method, gocheck):
                    yield from rows(path, (suite.name,), method, KINDS[method["kind"]][0], depends=depends)


def kind_of(function: dict[str, Any], testing: Sequence[str]) -> str | None:
    """Kind of a row, or None for a function `go test` would not run."""
    if function["kind"] == "Example":
        runs = function["output"] and not function["parameters"] and not function["result"]
        return "example" if runs else None
    kind, letter = KINDS[function["kind"]]
    allowed = {f"*{letter}" if name == "." else f"*{name}.{letter}" for name in testing}
    one = function["parameters"]
    return kind if len(one) == 1 and one[0] in allowed and not function["result"] else None


def is_constrained(path: str, facts: Facts) -> bool:
    """Whether a constraint, in the file or in its name, decides if a file is built."""
    _, underscore, last = path.removesuffix(".go").removesuffix("_test").rpartition("/")[2].rpartition("_")
    return "constrained" in facts or (underscore != "" and last in PLATFORMS)


def rows(path: str, suites: tuple[str, ...], function: dict[str, Any], kind: str, *, depends: bool) -> Iterator[Test]:
    """A test and its literal subtests, named by the functions around them."""
    depends = depends or "when" in function
    yield row(path, suites, function, kind, depends=depends)
    for subtest in function["subtests"]:
        inherited = subtest | {"skip": subtest["skip"] or function["skip"]}
        inside = (*suites, function["name"], *subtest["outer"])
        yield row(path, inside, inherited, "subtest", depends=depends or "when" in subtest)


def row(path: str, suites: tuple[str, ...], fact: dict[str, Any], kind: str, *, depends: bool) -> Test:
    """One row."""
    return Test(
        file=path,
        framework="go-testing",
        suites=suites,
        name=fact["name"],
        line=fact["line"],
        status="skipped" if fact["skip"] else "active",
        kind=kind,
        column=fact["column"],
        end_line=fact["end"],
        conditional=depends and not fact["skip"],
    )


def config_language(path: str) -> str | None:
    """The files that give modules their paths."""
    return MANIFEST if path.rpartition("/")[2] == MANIFEST else None


#: the name of its files belongs to it alone
GO_TESTING: Final = DeclaredFramework(
    "go-testing", GO.ids, lambda project: GoScope(Packages(project)), configures=config_language
)
