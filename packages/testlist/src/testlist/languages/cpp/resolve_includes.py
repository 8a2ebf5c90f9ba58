"""Which file of a repository an include names, and what includes say of test libraries."""

import re
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from testlist.languages.cpp.shape import CppFacts, shape
from testlist.languages.cpp.vocabulary import EITHER, TESTS
from testlist.model import FactsByPath
from testlist.project import folder_of, joined

#: library -> includes that mean it
LIBRARIES: Final = {
    "gtest": re.compile(r"(?i)(?:^|/)(?:gtest|gmock)(?:[-_/]|\.h$|$)"),
    "catch2": re.compile(r"(?i)(?:^|/)catch(?:2|_|\.h|/catch)"),
    "doctest": re.compile(r"(?i)(?:^|/)doctest(?:[-_./]|$)"),
    "boost-test": re.compile(r"^boost/test/"),
}
#: includes of one name are weighed one by one; a name that stands for more files than this says nothing
NAMESAKES: Final = 200
#: files that one file is followed to
REACH: Final = 400


def library_of(include: str) -> Iterator[str]:
    """Test libraries that an include belongs to."""
    yield from (library for library, pattern in LIBRARIES.items() if pattern.search(include))


@dataclass(slots=True)
class Includes:
    """The files of one commit, by name."""

    paths: AbstractSet[str]
    named: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    known: dict[tuple[str, str], str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, paths: AbstractSet[str], suffixes: frozenset[str]) -> "Includes":
        """Sort the sources of a commit."""
        found = cls(paths)
        for path in sorted(found.paths):
            if path.rpartition(".")[2] in suffixes:
                found.named[path.rpartition("/")[2]].append(path)
        return found

    def locate(self, path: str, include: str) -> str | None:
        """The file an include of a file names; None outside the repository."""
        key = (folder_of(path), include)
        if key not in self.known:
            self.known[key] = self._locate(*key)
        return self.known[key]

    def _locate(self, folder: str, include: str) -> str | None:
        beside = joined(folder, include)
        if beside in self.paths:
            return beside
        tail = joined("", include)
        found = [path for path in self.named.get(tail.rpartition("/")[2], ()) if f"/{path}".endswith(f"/{tail}")]
        if not found or len(found) > NAMESAKES:
            return None
        return max(found, key=lambda path: (shared_folders(path, folder), -len(path)))


def shared_folders(path: str, folder: str) -> int:
    """How many folders from the root on a file has in common with a folder."""
    pairs = zip(path.split("/")[:-1], folder.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


@dataclass(slots=True)
class Evidence:
    """What the includes of each file say, through the files that have been read."""

    includes: Includes
    facts: FactsByPath
    known: dict[tuple[str, tuple[str, ...]], str | None] = field(default_factory=dict)

    def closure(self, path: str) -> Iterator[str]:
        """A file and the files of the repository it includes, nearest first."""
        todo, seen = [path], {path}
        for reached in todo:
            yield reached
            for include in self.of(reached).get("includes", ()):
                target = self.includes.locate(reached, include)
                if target is not None and target not in seen and len(seen) < REACH:
                    seen.add(target)
                    todo.append(target)

    def of(self, path: str) -> CppFacts:
        """Facts of a file; none of one that was not read."""
        return shape(self.facts.get(path, {}))

    def named(self, path: str, wanted: tuple[str, ...]) -> str | None:
        """The first of the wanted libraries that a file includes."""
        found = (library for include in self.of(path).get("includes", ()) for library in library_of(include))
        return next((library for library in found if library in wanted), None)

    def nearest(self, path: str, wanted: tuple[str, ...]) -> str | None:
        """The wanted library that is fewest steps away."""
        key = (path, wanted)
        if key not in self.known:
            found = (self.named(reached, wanted) for reached in self.closure(path)) if wanted else iter(())
            self.known[key] = next(filter(None, found), None)
        return self.known[key]

    def unread(self, path: str, wanted: tuple[str, ...]) -> set[str]:
        """Files not read yet that may include a wanted library; none where one is known to."""
        if not wanted or self.nearest(path, wanted) is not None:
            return set()
        return {reached for reached in self.closure(path) if reached not in self.facts}

    def defines(self, path: str, wanted: tuple[str, ...]) -> bool:
        """Whether a file or what it includes makes such macros itself."""
        owners = {*wanted, EITHER} if len(wanted) > 1 else set(wanted)
        return any(
            TESTS[macro].owner in owners for reached in self.closure(path) for macro in self.of(reached).get("own", ())
        )
