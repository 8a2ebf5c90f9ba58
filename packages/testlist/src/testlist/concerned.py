"""Which files of a language have to be resolved again: those that changed, and those that these concern.

A file may have rows from others, so all are resolved again that may have given the same file rows.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from testlist.earlier import EarlierFiles
from testlist.language import Dependence
from testlist.model import FactsByPath
from testlist.project import Project

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
        before = dict(self.earlier.blobs)
        now = {path: self.project.blobs[path] for path in self.project.facts}
        changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
        old = known({path: before[path] for path in changed & before.keys()})
        if old.keys() != changed & before.keys():
            return None
        outline = self.dependence.outline
        if any(outline(old.get(path, {})) != outline(self.project.facts.get(path, {})) for path in changed):
            return None
        return self._spread(changed, old)

    def _spread(self, changed: set[str], old: FactsByPath) -> set[str]:
        links = self._links(changed, old)
        users: dict[str, set[str]] = {}
        for path, targets in links.items():
            for target in targets:
                users.setdefault(target, set()).add(path)
        found = reached(changed, users)
        while True:
            shared = {path for path in reached(found, links) if self._has_tests(path)}
            if shared <= found:
                return found
            found = reached(found | shared, users)

    def _links(self, changed: set[str], old: FactsByPath) -> Graph:
        """Of all files, and of those that changed as they were."""
        of, known = self.dependence.links(self.project), self.earlier.read.links
        self.links = {
            path: set(of(path, one)) if known is None or path in changed else set(known.get(path, ()))
            for path, one in self.project.facts.items()
        }
        found = dict(self.links)
        for path, one in old.items():
            found[path] = found.get(path, set()).union(of(path, one))
        return found

    def _has_tests(self, path: str) -> bool:
        return path in self.earlier.files and bool(self.earlier.files[path].tests)


def reached(paths: Iterable[str], graph: Graph) -> set[str]:
    """These, and what they lead to."""
    found = set(paths)
    todo = list(found)
    while todo:
        new = graph.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found
