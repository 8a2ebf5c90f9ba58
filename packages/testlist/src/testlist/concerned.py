"""Which files of a language have to be resolved again: those that changed, and those that these concern.

A file may have rows from others, so all are resolved again that may have given the same file rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from testlist.earlier import EarlierFiles
from testlist.language import Dependence
from testlist.model import FactsByPath
from testlist.project import Project

#: links of one language that are followed: more are those of a repository that nobody wrote by hand
MOST_LINKS: Final = 300_000
#: path -> paths
Graph = Mapping[str, set[str]]


@dataclass(slots=True)
class Concerned:
    """One language of a commit.  earlier: what it was; links: of each file that is read, once they are asked for."""

    dependence: Dependence
    project: Project
    earlier: EarlierFiles
    links: dict[str, set[str]] | None = None

    def paths(self, known: Callable[[Mapping[str, str]], FactsByPath]) -> set[str] | None:
        """The files; None where all may be concerned.  known: facts of blobs, by path, as far as they are stored."""
        before = self.earlier.was
        now = {path: self.project.blobs[path] for path in self.project.facts}
        changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
        old = known({path: before[path] for path in changed & before.keys()})
        if old.keys() != changed & before.keys():
            return None
        outline = self.dependence.outline
        if any(outline(old.get(path, {})) != outline(self.project.facts.get(path, {})) for path in changed):
            return None
        return self._spread(changed, old)

    def _spread(self, changed: set[str], old: FactsByPath) -> set[str] | None:
        """These, whoever has links to one of them, and whoever shares a file with tests with one; each is met once."""
        links = self._links(changed, old)
        if links is None:
            return None
        users: dict[str, list[str]] = {}
        for path, targets in links.items():
            for target in targets:
                users.setdefault(target, []).append(path)
        found, seen = set(changed), set(changed)
        todo = list(changed)
        while todo:
            self.project.beat()
            path = todo.pop()
            new = set(users.get(path, ())) - found if path in found else set[str]()
            below = links.get(path, set()) - seen
            found |= new | {target for target in below if self._has_tests(target)}
            seen |= new | below
            todo += new | below
        return found

    def _links(self, changed: set[str], old: FactsByPath) -> Graph | None:
        """Links of all files, and of those that changed as they were; None for more than it is worth to follow."""
        of, known = self.dependence.links(self.project), self.earlier.read.links
        if of is None:
            return None
        if self.earlier.was.keys() != self.project.facts.keys():
            known = None  # a file that is read for the first time may be what a name of others means
        found: dict[str, set[str]] = {}
        left = MOST_LINKS
        for path, one in self.project.facts.items():
            self.project.beat()
            targets = of(path, one) if known is None or path in changed else known.get(path, ())
            found[path] = set(islice(targets, left + 1))
            left -= len(found[path])
            if left < 0:
                return None
        self.links = found
        both = dict(found)
        for path, one in old.items():
            both[path] = both.get(path, set()).union(islice(of(path, one), MOST_LINKS))
        return both

    def _has_tests(self, path: str) -> bool:
        return path in self.earlier.files and bool(self.earlier.files[path].tests)
