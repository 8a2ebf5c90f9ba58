"""Which frameworks run the classes of a repository, and so the tests in all that these are built on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from testlist.languages.scala.config import is_candidate
from testlist.languages.scala.resolve_names import TESTING, Found, Names, Roots
from testlist.languages.scala.vocabulary_dialects import NEVER, Dialect

#: annotation of an inner class that JUnit runs with the one around it
NESTED: Final = "Nested"
#: id of a class's fact -> classes
Links = dict[int, list[Found]]


@dataclass(slots=True)
class Kinds:
    """All classes.  bases: of the repository; foreign: whole names that others may have for the rest."""

    names: Names
    dialects: Sequence[Dialect]
    bases: Links = field(default_factory=dict)
    heirs: Links = field(default_factory=dict)
    foreign: dict[int, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """See what every class is built on."""
        roots = Roots(dialect.roots for dialect in self.dialects)
        for found in self.every():
            key = id(found.item)
            self.bases[key], self.foreign[key] = [], []
            for base in found.item.get("bases", ()):
                meaning = self.names.meaning(found, base, roots)
                self.bases[key] += meaning.classes
                self.foreign[key] += self.telling(meaning.foreign, roots)
                for one in meaning.classes:
                    self.heirs.setdefault(id(one.item), []).append(found)
                    self.foreign[key] += filter(roots.has, [self.names.whole_name(one)])

    def telling(self, names: Sequence[str], roots: Roots) -> Iterator[str]:
        """Names that say something, which are few of all that a base may have by imports of whole packages.

        Of names that only end as those of tests do one is enough, and one for each framework that they speak of.
        """
        yield from filter(roots.has, names)
        if names and TESTING.search(names[0].rpartition(".")[2]):
            yield names[-1]
            for dialect in self.dialects:
                yield from islice(filter(dialect.package.match, names), 1)

    def every(self) -> Iterator[Found]:
        """Every class of every file."""
        for path in self.names.files:
            yield from self.names.all(path)

    def holds(self) -> dict[int, list[Dialect]]:
        """The frameworks that run the tests of each class that has some: of itself or of an heir."""
        found: dict[int, list[Dialect]] = {}
        for place, classes in self.run().items():
            for key in spread(classes, self.bases):
                found.setdefault(key, []).append(self.dialects[place])
        return found

    def run(self) -> Mapping[int, list[Found]]:
        """Classes that each framework runs by itself: those that it can make."""
        rooted, guessed = self.rooted(), self.guessed()
        annotated = [spread(self.annotated(one), self.heirs) for one in self.dialects]
        found: dict[int, list[Found]] = {place: [] for place in range(len(self.dialects))}
        for one in filter(is_made, self.every()):
            key = id(one.item)
            first = next((place for place, keys in enumerate(rooted) if key in keys), None)
            if first is None:
                first = next((place for place, keys in enumerate(guessed) if key in keys), None)
            for place, dialect in enumerate(self.dialects):
                fits = one.item["k"] in dialect.kinds and (dialect.fills or "asks" not in one.item)
                if fits and (place == first or key in annotated[place]):
                    found[place].append(one)
        return found

    def rooted(self) -> list[set[int]]:
        """Classes at whose end one of a framework stands, for each of the frameworks."""
        return [
            spread(
                (one for one in self.every() if any(map(dialect.roots.fullmatch, self.foreign[id(one.item)]))),
                self.heirs,
            )
            for dialect in self.dialects
        ]

    def guessed(self) -> list[set[int]]:
        """Classes at whose end somebody else's stands that is called as bases of tests are, for each of the frameworks.

        Their files speak of it, or else most files of the repository do.
        """
        seeds: list[list[Found]] = [[] for _ in self.dialects]
        most = self.spoken_most()
        for one in self.every():
            names = [name for name in self.foreign[id(one.item)] if TESTING.search(name.rpartition(".")[2])]
            if names:
                said = [*names, *self.names.spoken(one.path)]
                places = [place for place, dialect in enumerate(self.dialects) if speaks(dialect, said)]
                for place in places or most:
                    seeds[place].append(one)
        return [spread(classes, self.heirs) for classes in seeds]

    def spoken_most(self) -> list[int]:
        """The framework that most files speak of."""
        spoken = [self.names.spoken(path) for path in self.names.files]
        counts = [sum(speaks(dialect, said) for said in spoken) for dialect in self.dialects]
        return [counts.index(max(counts))] if any(counts) else []

    def annotated(self, dialect: Dialect) -> Iterator[Found]:
        """Classes with methods that a framework knows by their annotations."""
        for found in self.every() if dialect.annotated is not NEVER else ():
            marks = {mark for method in found.item.get("methods", ()) for mark in method.get("marks", ())}
            if any(annotation(self.names, found, mark, dialect) for mark in marks):
                yield found


def spread(classes: Iterable[Found], links: Links) -> set[int]:
    """Classes, and all that links lead to from there, by the ids of their facts."""
    todo = [id(one.item) for one in classes]
    found = set(todo)
    while todo:
        new = {id(one.item) for one in links.get(todo.pop(), ())} - found
        found |= new
        todo += new
    return found


def speaks(dialect: Dialect, said: Iterable[str]) -> bool:
    """Whether names that a file uses are of a framework."""
    return any(map(dialect.package.match, said))


def is_made(found: Found) -> bool:
    """Whether a run looks for tests in a class: it is among tests, in no other class, and somebody can make one."""
    is_alone = not found.outer or NESTED in found.item.get("marks", ())
    return "abstract" not in found.item and is_alone and is_candidate(found.path)


def annotation(names: Names, found: Found, name: str, dialect: Dialect) -> str:
    """The whole name of an annotation, if a framework knows tests by it."""
    explicit = names.given[found.path].get(name)
    if explicit is not None or "." in name:
        whole = [explicit or name]
    else:
        whole = [f"{package}.{name}" for package in names.packages[found.path] if package.startswith("org.junit")]
    return next((one for one in whole if dialect.annotated.fullmatch(one)), "")
