"""All Dart frameworks' view of one repository: what test files import, whose they are, and what functions stand for."""

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from testlist.kit.naming import speaks_of_tests
from testlist.kit.scope import Growing
from testlist.languages.dart.shape import ClassFact, DartFacts, shape
from testlist.languages.dart.vocabulary import PACKAGES, WIDGETS, WORDS
from testlist.model import FactsByPath
from testlist.project import Project, folder_of, joined

TEST_FILE: Final = "_test.dart"
#: a file of a package, by the folder of the package
LIBRARY: Final = re.compile(r"(?:.*/)?([^/]+)/lib/(.+)")
PACKAGE: Final = "package:"
INSIDE: Final = re.compile(r"package:([^/]+)/")
#: functions that pass tests on to each other, and files through which one says whose tests it has
MOST_STEPS: Final = 10
MOST_FILES: Final = 30


@dataclass(slots=True)
class Resolver:
    """One repository.  libraries: what imports call files of its packages, as far as their paths speak of tests."""

    project: Project
    candidates: frozenset[str]
    libraries: dict[str, str]
    wanted: Growing[set[str]] = field(default_factory=lambda: Growing(set()))
    owners: dict[str, str | None] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)  # whose packages a file imports itself
    wrappers: dict[str, str] | None = None
    files: dict[str, list[str]] = field(default_factory=dict)  # that a file imports

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Sort the files of a repository."""
        libraries: dict[str, str] = {}
        for path in project.paths:
            if path.endswith(".dart") and speaks_of_tests(path):
                found = LIBRARY.fullmatch(path)
                libraries[f"{found[1]}/{found[2]}" if found is not None else path] = path
        return cls(project, frozenset(path for path in project.paths if path.endswith(TEST_FILE)), libraries)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that test files import, as far as their paths speak of tests."""
        return self.wanted.of(facts, lambda: self.leads(facts))

    def leads(self, facts: FactsByPath) -> set[str]:
        """What is needed beyond what has been read."""
        wanted: set[str] = set()
        for path, found in facts.items():
            self.project.beat()
            wanted.update(self.imported(path, shape(found)))
        return wanted - facts.keys()

    def imported(self, path: str, facts: DartFacts) -> list[str]:
        """Files of the repository that a file imports, exports or is a part of."""
        if path not in self.files:
            named = (self.file(path, name) for name in facts.get("imports", ()))
            self.files[path] = list(dict.fromkeys(one for one in named if one is not None))
        return self.files[path]

    def file(self, path: str, name: str) -> str | None:
        """The file that an import means."""
        if name.startswith(PACKAGE):
            inside = name.removeprefix(PACKAGE)
            return self.libraries.get(inside) or self.libraries.get("lib/" + inside.partition("/")[2])
        target = joined(folder_of(path), name)
        return target if ":" not in name and target in self.project.paths and speaks_of_tests(target) else None

    def owner(self, path: str, facts: FactsByPath) -> str | None:
        """Whose tests a file has: by its imports, else by those of files that it imports; None if nobody says."""
        if path not in self.owners:
            self.owners[path] = self.nearest(path, facts)
        return self.owners[path]

    def nearest(self, path: str, facts: FactsByPath) -> str | None:
        """Whose package is imported nearest."""
        chain = [path]
        for one in islice(chain, MOST_FILES):  # grows as it is read
            found = shape(facts.get(one, {}))
            if named := self.named(one, found):
                return named
            for two in self.imported(one, found) if len(chain) < MOST_FILES else ():
                if two in facts and two not in chain and len(chain) < MOST_FILES:
                    chain.append(two)
        if path not in self.candidates:
            return None
        words = {call["word"] for call in shape(facts[path]).get("calls", ())}
        return "dart-test" if words.isdisjoint(WIDGETS) else "flutter-test"

    def named(self, path: str, facts: DartFacts) -> str:
        """Whose package a file imports itself; empty for none."""
        if path not in self.packages:
            packages = (INSIDE.match(name) for name in facts.get("imports", ()))
            owners = {PACKAGES[package[1]] for package in packages if package and package[1] in PACKAGES}
            self.packages[path] = max(owners, default="")  # flutter_test has all of package:test
        return self.packages[path]

    def meaning(self, word: str, own: DartFacts, facts: FactsByPath) -> str | None:
        """The function of a framework that a word stands for; None if it is anything else."""
        if self.wrappers is None:
            self.wrappers = {}
            for found in (shape(facts[path]) for path in sorted(facts)):  # the first of a name counts
                for name, of in found.get("wrappers", {}).items():
                    self.wrappers.setdefault(name, of)
        mine = own.get("wrappers", {})
        for _ in range(MOST_STEPS):
            if word in mine and mine[word] != word:
                word = mine[word]
            elif word in WORDS:
                return word if word not in own.get("own", ()) else None
            elif word in self.wrappers:
                word = self.wrappers[word]
            else:
                return None
        return None

    def tested(self, facts: FactsByPath) -> set[int]:
        """Classes whose methods are tests: those that say so, and all that they inherit; by identity."""
        by_name: dict[str, list[ClassFact]] = {}
        todo: list[ClassFact] = []
        for found in map(shape, facts.values()):
            for one in found.get("classes", ()):
                by_name.setdefault(one["name"], []).append(one)
                todo += [one] if "marked" in one else []
        seen = {id(one) for one in todo}
        names = set[str]()
        while todo:
            fresh = set(todo.pop()["bases"]) - names
            names |= fresh
            for one in (one for name in fresh for one in by_name.get(name, ())):
                if id(one) not in seen:
                    seen.add(id(one))
                    todo.append(one)
        return seen
