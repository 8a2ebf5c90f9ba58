"""Names across the files of a repository: what the name of a class or an annotation stands for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from testlist.languages.jvm.language import JVM
from testlist.languages.jvm.shape import ClassFact, shape
from testlist.model import Facts
from testlist.project import folder_of

SUFFIXES: Final = JVM.suffixes
#: files of one name that are looked at; a repository seldom has more
SAME_NAME: Final = 64
MOST_STARS: Final = 64
LONGEST: Final = 1_000  # letters of a package, as each of its classes is known by its full name
NESTING: Final = 3  # words of a full name that may be a class and its outer ones


class Found(NamedTuple):
    """A class of the repository, or a whole file.  outer: the classes around it, outermost first."""

    path: str
    item: ClassFact
    outer: tuple["Found", ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Its own name behind those around it."""
        return (*(one.item["name"] for one in self.outer), self.item["name"])

    @property
    def scope(self) -> "Found":
        """Where its annotations and bases are looked up: they cannot name what stands in it."""
        return self.outer[-1] if self.outer else Found(self.path, NOTHING)


#: stands for a file, whose names are looked up where no class is around
NOTHING: Final[ClassFact] = {"k": "file", "name": "", "line": 0, "column": 0, "end": 0}
#: a class of the repository, or the dotted names something outside it may have
Meaning = Found | tuple[str, ...]


@dataclass(slots=True)
class Names:
    """All files read so far: see learn.

    paths: every source file of the commit by its name without suffix.  roots: names that are not followed, even in
    the repository that declares them.
    """

    paths: Mapping[str, list[str]]
    roots: set[str] = field(default_factory=set)
    facts: dict[str, Facts] = field(default_factory=dict)
    classes: dict[str, list[Found]] = field(default_factory=dict)
    known: dict[tuple[str, int, str], Meaning] = field(default_factory=dict)
    judged: dict[tuple[object, ...], object] = field(default_factory=dict)  # what `marks` made of names
    tables: dict[str, tuple[dict[str, str], list[str]]] = field(default_factory=dict)

    def learn(self, facts: Mapping[str, Facts]) -> list[str]:
        """Index the classes of further files by their full names; returns which are new.  facts: of known files too."""
        new = [path for path in facts if path not in self.facts]
        self.facts |= {path: facts[path] for path in new}
        for path in new:
            package = shape(facts[path]).get("package", "")[:LONGEST]  # of a file that cannot be read nothing is known
            for found in self.all(path):
                name = ".".join((*([package] if package else []), *found.names))
                self.classes.setdefault(name, []).append(found)
        if new:
            self.known.clear()
            self.judged.clear()
        return new

    def all(self, path: str) -> Iterator[Found]:
        """Every class of a file, outer ones first."""
        stack = [Found(path, item) for item in reversed(shape(self.facts[path]).get("classes", []))]
        while stack:
            found = stack.pop()
            yield found
            stack += [Found(path, item, (*found.outer, found)) for item in reversed(found.item.get("classes", []))]

    def meaning(self, found: Found, name: str) -> Meaning:
        """Follow a name used on or in a class."""
        key = (found.path, id(found.item), name)
        if key not in self.known:
            self.known[key] = self._meaning(found, name)
        return self.known[key]

    def _meaning(self, found: Found, name: str) -> Meaning:
        candidates = []
        for candidate in self.candidates(found, name):
            candidates.append(candidate)
            if candidate in self.roots:
                return (candidate,)
            if candidate in self.classes:
                return self.nearest(found.path, self.classes[candidate])
        return tuple(candidates)

    def nearest(self, path: str, classes: list[Found]) -> Found:
        """The class among several of one name whose file lies nearest."""
        return min(classes[:SAME_NAME], key=lambda one: (-shared(path, one.path), one.path))

    def candidates(self, found: Found, name: str) -> Iterator[str]:
        """Full names a name may have, likeliest first: nested, imported, of the package, by a star, as it stands."""
        package = shape(self.facts[found.path])["package"]
        prefix = f"{package}." if package else ""
        head, _, rest = name.partition(".")
        tail = f".{rest}" if rest else ""
        around = found.names if found.item["k"] != "file" else ()
        for length in range(len(around), 0, -1):
            yield f"{prefix}{'.'.join(around[:length])}.{name}"
        explicit, stars = self.imports(found.path)
        if head in explicit:
            yield explicit[head] + tail
        yield prefix + name
        yield from (f"{dotted}.{name}" for dotted in stars)
        if package:
            yield name

    def imports(self, path: str) -> tuple[dict[str, str], list[str]]:
        """Imports of a file: full names by the name they give, and what is imported whole."""
        if path not in self.tables:
            pairs = shape(self.facts[path])["imports"]
            stars = [dotted for dotted, alias in pairs if alias == "*"]
            self.tables[path] = {alias: dotted for dotted, alias in reversed(pairs)}, stars[:MOST_STARS]
        return self.tables[path]

    def explains(self, found: Found, name: str) -> bool:
        """Whether a name says by itself, or an import says, where it comes from."""
        return "." in name or name in self.imports(found.path)[0]

    def needed(self, found: Found, name: str) -> Iterator[str]:
        """Files not read yet in which a name may be declared."""
        written = self.imports(found.path)[0].get(name.partition(".")[0], name)
        if self.paths.keys().isdisjoint(written.split(".")[-NESTING:]):
            return
        for candidate in self.candidates(found, name):
            if candidate in self.roots or candidate in self.classes:
                return
            words = candidate.split(".")
            for length in range(
                len(words), max(0, len(words) - NESTING), -1
            ):  # a nested class lies in its outer one's file
                folder = "/".join(words[: length - 1])
                sources = self.paths.get(words[length - 1], [])[:SAME_NAME]
                new = [path for path in sources if path not in self.facts and fits(folder_of(path), folder)]
                if new:
                    yield from new
                    return


def fits(folder: str, package: str) -> bool:
    """Whether a package may lie in a folder; Kotlin may leave out what all its packages begin with."""
    if folder == package or folder.endswith(f"/{package}"):
        return True
    last = package.rpartition("/")[2]
    return bool(last) and folder.rpartition("/")[2] == last


def shared(left: str, right: str) -> int:
    """Leading folders two paths share."""
    count = 0
    for one, other in zip(left.split("/"), right.split("/"), strict=False):
        if one != other:
            break
        count += 1
    return count
