"""Resolver across the files of a repository: which types are run, and whose methods that makes tests."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from testlist.languages.go.config_modules import Packages
from testlist.languages.go.shape import GoFacts, MethodFact, shape
from testlist.model import FactsByPath
from testlist.project import folder_of

#: embedded types that are looked at, from all suites together
MOST: Final = 1_000_000


class Type(NamedTuple):
    """A type of the repository; a folder holds one package, its external tests aside."""

    folder: str
    name: str


@dataclass(slots=True)
class Resolver:
    """All suites of what has been read."""

    packages: Packages
    embeds: dict[Type, list[Type]] = field(default_factory=lambda: defaultdict(list))
    methods: dict[Type, set[str]] = field(default_factory=lambda: defaultdict(set))
    foreign: set[Type] = field(default_factory=set)  # what embeds a suite of others
    makers: dict[Type, str] = field(default_factory=dict)
    targets: set[Type] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)  # folders that run something that does not show
    helpers: set[str] = field(default_factory=set)  # folders of packages that may run suites for tests
    left: int = MOST

    @classmethod
    def of(cls, facts: FactsByPath, packages: Packages) -> "Resolver":
        """Learn from every file."""
        found = cls(packages)
        for path, one in sorted(facts.items()):
            if path.endswith(".go"):
                found.learn(path, shape(one))
        return found

    def learn(self, path: str, facts: GoFacts) -> None:
        """Take what one file says."""
        folder = folder_of(path)
        for method in facts.get("methods", ()):
            self.methods[Type(folder, method["type"])].add(method["name"])
        for name, embedded in facts.get("structs", {}).items():
            self.embed(Type(folder, name), embedded, facts)
        for function, made in facts.get("makers", {}).items():
            self.makers[Type(folder, function)] = made
        for written in facts.get("runs", ()):
            if targets := self.named(folder, written, facts):
                self.targets.update(targets)
            else:
                self.unknown.add(folder)
        if path.endswith("_test.go"):
            places = (self.packages.locate(one, folder) for one in facts.get("helpers", ()))
            self.helpers.update(place for place in places if place is not None)

    def embed(self, one: Type, embedded: Iterable[str], facts: GoFacts) -> None:
        """Note what a struct embeds."""
        bases = {"Suite" if name == "." else f"{name}.Suite" for name in facts.get("testify", ())}
        for written in embedded:
            targets = [] if written in bases else self.named(one.folder, written, facts)
            self.embeds[one] += targets
            if not targets and (written in bases or written.endswith(".Suite")):
                self.foreign.add(one)

    def named(self, folder: str, written: str, facts: GoFacts) -> list[Type]:
        """What a name may mean in a file; nothing outside the repository."""
        package, dot, name = written.rpartition(".")
        paths = [facts.get("imports", {}).get(package, "")] if dot else facts.get("dots", ())
        places = [self.packages.locate(path, folder) for path in paths]
        own = [Type(folder, written)] if not dot and written != "?" else []
        return own + [Type(place, name) for place in places if place is not None]

    def roots(self) -> set[Type]:
        """Types whose values are run."""
        made = {one: self.made(one) for one in self.targets}
        unclear = self.unknown | {one.folder for one, type_ in made.items() if type_ is None}
        return {one for one in made.values() if one} | {one for one in self.suites() if one.folder in unclear}

    def made(self, one: Type) -> Type | None:
        """The type a function returns, for what is written `name()`; None where that does not show."""
        name = one.name.removesuffix("()")
        if name == one.name:
            return one
        made = Type(one.folder, self.makers.get(Type(one.folder, name), ""))
        return made if made in self.embeds or made in self.methods else None

    def suites(self) -> set[Type]:
        """Types that are suites by what they embed."""
        embedding: dict[Type, list[Type]] = defaultdict(list)
        for one, targets in self.embeds.items():
            for target in targets:
                embedding[target].append(one)
        found, todo = set(self.foreign), list(self.foreign)
        while todo:
            new = [one for one in embedding.get(todo.pop(), ()) if one not in found]
            found.update(new)
            todo += new
        return found

    def levels(self, root: Type) -> Iterator[list[Type]]:
        """A type, then what it embeds, then what that embeds; nothing once too much was looked at."""
        seen, level = {root}, [root]
        while level and self.left > 0:
            yield level
            below = [target for one in level for target in self.embeds.get(one, ())]
            self.left -= len(below) + 1
            level = [one for one in dict.fromkeys(below) if one not in seen]
            seen.update(level)

    def run(self) -> set[tuple[Type, str]]:
        """Methods of the types that are run; an embedded one is hidden by one of its name further out."""
        self.left = MOST
        found: set[tuple[Type, str]] = set()
        for root in self.roots():
            taken: set[str] = set()
            for level in self.levels(root):
                new = {(one, name) for one in level for name in self.methods.get(one, ()) if name not in taken}
                taken.update(name for _, name in new)
                found |= new
        return found

    def needed(self, paths: Iterable[str]) -> set[str]:
        """Sources of packages that hold parts of suites, or may run some."""
        self.left = MOST
        types = {one for root in self.roots() for level in self.levels(root) for one in level}
        types |= {one for one in self.targets if self.made(one) is None}
        folders = {one.folder for one in types - self.methods.keys()} | self.helpers
        return {path for path in paths if path.endswith(".go") and folder_of(path) in folders}


def is_test(method: MethodFact, gocheck: list[str]) -> bool:
    """Whether a suite would run a method: no parameters with testify, one of its own kind with gocheck."""
    parameters = method["parameters"]
    if method["result"] or method["kind"] not in ("Test", "Benchmark"):
        return False
    if not parameters:
        return method["kind"] == "Test"
    return len(parameters) == 1 and parameters[0] in {"*C" if name == "." else f"*{name}.C" for name in gocheck}
