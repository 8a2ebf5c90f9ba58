"""Which files are asked again for what they lead to, once more has been read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from testlist.languages.python.resolve_names import Names


@dataclass(slots=True)
class Rounds:
    """Questions to the files of one repository, round by round.

    What a file leads to depends on the bodies it was followed through.  A file that led to nothing unread met none
    that was missing, so nothing read since can change its answer, and it is not asked again.  Star imports are the
    exception: names come through them from files that only the importer leads to, and in circles they depend on
    where one begins.  While one of them is unread, or leads to another, every file is asked again.

    settled: files that led to nothing unread.
    """

    settled: set[str] = field(default_factory=set)

    def ask(self, names: Names, sources: Callable[[str], Iterable[str]]) -> set[str]:
        """Ask every file that may lead to more than it did: unread files that they lead to."""
        known = names.facts.keys()
        paths = [path for path in known if path.endswith(".py")]
        plain = self.are_plain(names, paths)
        open_paths = [path for path in paths if path not in self.settled or not plain]
        unread = {path: set(sources(path)) - known for path in open_paths}
        self.settled = {*self.settled, *(path for path in open_paths if not unread[path])} if plain else set()
        return set[str]().union(*unread.values())

    @staticmethod
    def are_plain(names: Names, paths: Iterable[str]) -> bool:
        """Whether every star import is read and takes its names from a file without star imports."""
        taken = {source for path in paths for source in names.stars(path)}
        return all(source in names.facts and not any(names.stars(source)) for source in taken)
