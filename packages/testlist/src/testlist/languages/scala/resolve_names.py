"""Classes of a repository by their names, and what a name means where it is written."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from testlist.languages.scala.shape import ClassFact, Import, ScalaFacts

#: classes of one name that are looked at, and packages of which a file imports all
MANY: Final = 20
MOST: Final = 100
#: letters of the whole name of a class; one with a longer name is known by its own alone
LONGEST: Final = 400
#: answers that are kept: names are as many as a file has classes, times what it imports all of
KEPT: Final = 100_000
#: names of classes that tests are built on
TESTING: Final = re.compile(
    r"Specs?(?:Base|Like|ification)?|Suites?(?:Base|Like)?|Tests?(?:Base|Like|Case|Suite)?|Properties"
)


class Found(NamedTuple):
    """A class with the file it stands in, the names of those around it, and the package of the outermost."""

    path: str
    item: ClassFact
    outer: tuple[str, ...] = ()
    package: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Its own name behind those around it."""
        return (*self.outer, self.item["name"])


class Meaning(NamedTuple):
    """What a name may mean.  classes: of the repository; foreign: whole names that others may have for it."""

    classes: list[Found]
    foreign: list[str]


@dataclass(slots=True)
class Names:
    """One repository."""

    files: dict[str, ScalaFacts] = field(default_factory=dict)
    whole: dict[str, list[Found]] = field(default_factory=dict)
    simple: dict[str, list[Found]] = field(default_factory=dict)
    given: dict[str, dict[str, str]] = field(default_factory=dict)  # names by explicit imports
    packages: dict[str, list[str]] = field(default_factory=dict)  # those of which all is imported

    def learn(self, path: str, facts: ScalaFacts) -> None:
        """Take one file."""
        self.files[path] = facts
        imports: list[Import] = facts.get("imports", [])
        self.given[path] = given = {alias: dotted for dotted, alias in imports if alias != "*"}
        self.given[path] = {alias: expanded(dotted, given) for alias, dotted in given.items()}
        self.packages[path] = [expanded(dotted, given) for dotted, alias in imports if alias == "*"][:MOST]
        for found in self.all(path):
            if len(whole := self.whole_name(found)) <= LONGEST:
                self.whole.setdefault(whole, []).append(found)
            self.simple.setdefault(found.item["name"], []).append(found)

    def all(self, path: str) -> Iterator[Found]:
        """Every class of a file, each before those in it."""
        classes = reversed(self.files[path].get("classes", []))
        todo = [Found(path, item, package=item.get("package", "")) for item in classes]
        while todo:
            found = todo.pop()
            yield found
            inner = reversed(found.item.get("classes", []))
            todo += (Found(path, item, found.names, found.package) for item in inner)

    def scopes(self, found: Found) -> Iterator[str]:
        """What stands around a class, the nearest first, each with a dot at the end; at last nothing."""
        parts = [*filter(None, found.package.split(".")), *found.outer]
        for length in range(len(parts), max(0, len(parts) - MANY), -1):
            yield ".".join(parts[:length]) + "."
        yield ""

    def meaning(self, found: Found, name: str, roots: "Roots") -> Meaning:
        """What a name means in a class."""
        head, dot, rest = name.partition(".")
        explicit = self.given[found.path].get(head)
        if explicit is not None:
            names = [explicit + dot + rest]
        else:
            names = [f"{package}.{name}" for package in self.packages[found.path]] + [name]
        scopes = [*self.scopes(found)]
        if explicit is None:
            own = self.named((scope + name for scope in scopes[:-1]), found)
            if own:
                return Meaning(own, [])
        own = self.named((scope + one for one in names for scope in scopes), found)
        if own or any(map(roots.has, names)):
            return Meaning(own, names)
        same = self.simple.get(names[0].rpartition(".")[2], [])[: MANY + 1]  # any number of classes may have the name
        alike = [one for one in same if one.item is not found.item]
        return Meaning(alike[:MANY], names if not alike else [])

    def spoken(self, path: str) -> list[str]:
        """What a file imports."""
        return [*self.packages[path], *self.given[path].values()]

    def named(self, names: Iterable[str], but: Found) -> list[Found]:
        """The classes of the first whole name that any has."""
        for name in names:
            if any(one.item is not but.item for one in self.whole.get(name, ())):
                return [one for one in self.whole[name][:MANY] if one.item is not but.item]
        return []

    def whole_name(self, found: Found) -> str:
        """Its name with its package."""
        return ".".join(filter(None, (found.package, *found.names)))


def expanded(dotted: str, given: Mapping[str, str]) -> str:
    """A name by its first part, where that is imported itself: `import org.apache.pekko`, `import pekko.testkit`."""
    head, dot, rest = dotted.partition(".")
    found = given.get(head, head)
    return dotted if found.endswith(f".{dotted}") else f"{found}{dot}{rest}"


@dataclass(slots=True)
class Roots:
    """Names of classes of frameworks, as patterns."""

    patterns: Iterable[re.Pattern[str]]
    known: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the patterns, which are asked again and again."""
        self.patterns = [*self.patterns]

    def has(self, name: str) -> bool:
        """Whether a whole name is one of theirs."""
        if (known := self.known.get(name)) is not None:
            return known
        found = any(pattern.fullmatch(name) for pattern in self.patterns)
        if len(self.known) < KEPT:
            self.known[name] = found
        return found
