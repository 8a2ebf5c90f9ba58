"""What an attribute means to each framework, seen through aliases and classes derived in the repository."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from testlist.languages.csharp.config_projects import DotnetProjects
from testlist.languages.csharp.resolve_tunit import meant
from testlist.languages.csharp.resolve_types import DEPTH, Type, Types
from testlist.languages.csharp.shape import CSharpFacts, shape

TUNIT: Final = "tunit"
#: namespace of a framework -> its name
SPACES: Final = (
    ("NUnit.", "nunit"),
    ("Xunit", "xunit"),
    ("Microsoft.VisualStudio.TestTools.UnitTesting", "mstest"),
    ("FsCheck.Xunit", "xunit"),
    ("FsCheck.NUnit", "nunit"),
    ("TUnit.Core", TUNIT),
)
NAMES: Final = (("nunit", "nunit"), ("xunit", "xunit"), ("mstest", "mstest"))
#: attributes that make a method a test -> the frameworks that have them, likeliest first
TESTS: Final = {
    "Test": ("nunit", TUNIT),
    "TestCase": ("nunit",),
    "TestCaseSource": ("nunit",),
    "Combinatorial": ("nunit",),
    "Pairwise": ("nunit",),
    "Sequential": ("nunit",),
    "ITestBuilder": ("nunit",),
    "ISimpleTestBuilder": ("nunit",),
    "Fact": ("xunit",),
    "Theory": ("xunit", "nunit"),
    "IFactAttribute": ("xunit",),
    "ITheoryAttribute": ("xunit",),
    "TestMethod": ("mstest",),
    "DataTestMethod": ("mstest",),
    "DynamicTestBuilder": (TUNIT,),
}
#: endings of attributes that other packages derive from the above
ENDINGS: Final = (("Fact", "Fact"), ("Theory", "Theory"), ("TestMethod", "TestMethod"), ("TestClass", "TestClass"))
#: attributes that are one case each; that are cases unknown here
ROWS: Final = frozenset({"TestCase", "InlineData", "DataRow"})
SOURCES: Final = frozenset(
    {"TestCaseSource", "Combinatorial", "Pairwise", "Sequential", "ITestBuilder", "Theory", "ITheoryAttribute",
     "DataTestMethod", "DynamicTestBuilder", "MemberData", "ClassData", "DynamicData", "DataSource", "PropertyData",
     "Property"}
)  # fmt: skip
#: switches, and attributes of NUnit, MSTest and packages beside xUnit, that let a condition decide
DEPENDS: Final = frozenset({"SkipWhen", "SkipUnless"})
CONDITIONS: Final = frozenset(
    {"Platform", "OSCondition", "CICondition", "ConditionalFact", "ConditionalTheory", "ConditionalClass",
     "ConditionalTestMethod", "ConditionalTestClass"}
)  # fmt: skip
OTHERS: Final = frozenset({"Ignore", "Explicit", "TestClass", "TestFixture", "TestFixtureSource"})
KNOWN: Final = TESTS.keys() | ROWS | SOURCES | OTHERS


class Meaning(NamedTuple):
    """One attribute.  word: the built-in one it is or derives from; of: whose test it may make, likeliest first.

    depends: it lets a condition decide whether a test runs.
    """

    word: str
    of: tuple[str, ...] = ()
    on: frozenset[str] = frozenset()
    depends: bool = False


@dataclass(slots=True)
class Meanings:
    """Attributes of one repository."""

    types: Types
    projects: DotnetProjects
    derived: dict[str, str] = field(default_factory=dict)
    above: dict[str, list[str]] = field(default_factory=dict)
    spaces: dict[str, list[str]] = field(default_factory=dict)
    settings: dict[str | None, tuple[list[str], list[str]]] = field(default_factory=dict)
    globals: dict[str | None, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.types.facts:
            if path.endswith(".cs") and (found := self.said(path).get("globals")):
                self.globals.setdefault(self.projects.folder(path), []).extend(found)

    def said(self, path: str) -> CSharpFacts:
        """Facts of a file."""
        return shape(self.types.facts[path])

    def read(self, path: str, dotted: str, switches: list[str]) -> Meaning:
        """Read an attribute as it stands in a file."""
        dotted = self.unaliased(path, dotted)
        name = bare(dotted)
        if (own := self.of_tunit(path, dotted, switches)) is not None:
            return own
        word = name if name in KNOWN else self.root(name)
        if word == "Property":  # of FsCheck; NUnit's own of that name says something else
            return Meaning(word, self.property(path))
        choices = TESTS.get(word, ())
        depends = name in CONDITIONS or not DEPENDS.isdisjoint(switches)
        return Meaning(word, self.choose(path, dotted, choices) if choices else (), frozenset(switches), depends)

    def of_tunit(self, path: str, dotted: str, switches: list[str]) -> Meaning | None:
        """Read an attribute of TUnit that makes no test; None for any other, and in files of other frameworks."""
        name = bare(dotted)
        if not self.is_tunit(path, dotted) or (found := meant(name, self.bases(name))) is None:
            return None
        word, depends = found
        return Meaning(word, (), frozenset(switches), depends)

    def is_tunit(self, path: str, dotted: str) -> bool:
        """Whether what stands nearest to an attribute and names a framework names TUnit."""
        levels = (frameworks([dotted]) if "." in dotted else [], self.imported(path), *self.setting(path))
        return TUNIT in next(filter(None, levels), [])

    def unaliased(self, path: str, dotted: str) -> str:
        """See through `using A = B.C`, unless the file has the name by another using as well."""
        target = self.said(path).get("aliases", {}).get(dotted)
        if target is None or set(TESTS.get(bare(dotted), ())) & set(self.imported(path)):
            return dotted
        return target

    def imported(self, path: str) -> list[str]:
        """Frameworks a file imports by itself."""
        if path not in self.spaces:
            self.spaces[path] = frameworks(self.said(path).get("usings", ()))
        return self.spaces[path]

    def choose(self, path: str, dotted: str, choices: tuple[str, ...]) -> tuple[str, ...]:
        """Whose attribute a name is, by what stands nearest: its own namespace, usings, global usings, packages."""
        for found in (frameworks([dotted]) if "." in dotted else [], self.imported(path), *self.setting(path)):
            if fitting := tuple(one for one in choices if one in found):
                return fitting
            if TUNIT in found:
                return ()
        return choices[:1]

    def setting(self, path: str) -> tuple[list[str], list[str]]:
        """Frameworks of a file's project: by global usings, by packages."""
        folder = self.projects.folder(path)
        if folder not in self.settings:
            settings = list(self.projects.settings(path))
            usings = [using for one in settings for using in one.usings] + self.globals.get(folder, [])
            spaces = [*frameworks(usings), *([TUNIT] if self.projects.uses_tunit(path) else ())]
            named = {one for each in settings for package in each.packages for start, one in NAMES if start in package}
            self.settings[folder] = (spaces, sorted(named, reverse=True))
        return self.settings[folder]

    def property(self, path: str) -> tuple[str, ...]:
        """FsCheck's runner, if the file uses FsCheck."""
        usings = self.said(path).get("usings", ())
        return tuple(frameworks(using for using in usings if using.startswith("FsCheck.")))

    def root(self, name: str) -> str:
        """The built-in attribute that a class of the repository derives from, or that a name ends in."""
        if name not in self.derived:
            self.derived[name] = ""  # a cycle of bases ends here
            self.derived[name] = self._root(name)
        return self.derived[name]

    def _root(self, name: str) -> str:
        for full in (f"{name}Attribute", name):
            for arity in (0, 1):
                for one in self.types.last.get((full, arity), ())[:DEPTH]:
                    if (word := self._base(one)) is not None:
                        return word
        if name.startswith("Inline") and name.endswith("Data"):
            return "InlineData"
        return next((word for ending, word in ENDINGS if name.endswith(ending)), "")

    def _base(self, one: Type) -> str | None:
        """The built-in attribute among a class and its bases; empty for one that is none, None if nothing is known."""
        words = self.words(one)
        endings = (meant for word in words for ending, meant in ENDINGS if word.endswith(ending))
        found = next((word for word in words if word in KNOWN), None) or next(endings, None)
        return found or ("" if "Attribute" in words else None)

    def words(self, one: Type) -> list[str]:
        """Last names of all bases of a class, also of those that the repository lacks."""
        parts = (part for ancestor in self.types.order(one) for _, part in ancestor.parts)
        return [bare(dotted) for part in parts for dotted, _ in part["bases"]]

    def bases(self, name: str) -> list[str]:
        """What attributes of a name are derived from in the repository."""
        if name not in self.above:
            keys = [(full, arity) for full in (f"{name}Attribute", name) for arity in (0, 1)]
            types = (one for key in keys for one in self.types.last.get(key, ())[:DEPTH])
            self.above[name] = [word for one in types for word in self.words(one)]
        return self.above[name]


def bare(dotted: str) -> str:
    """Last name without the suffix that C# lets one leave out."""
    name = dotted.rpartition(".")[2]
    return name.removesuffix("Attribute") if name != "Attribute" and name not in TESTS else name


def frameworks(spaces: Iterable[str]) -> list[str]:
    """Frameworks that namespaces belong to."""
    return [one for space in spaces for start, one in SPACES if space.startswith(start)]
