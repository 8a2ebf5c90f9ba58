"""What a framework has to say for itself; docs/frameworks.md walks through adding one."""

from collections.abc import Collection, Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project


class Signal(IntEnum):
    """How a file shows whose it is, weakest first."""

    GUESS = 0  #: nothing better, but it looks like tests
    CONTENT = 1  #: uses the framework's own names
    CONFIG = 2  #: lies in the scope of its configuration
    NAME = 3  #: a file name only this framework uses
    IMPORT = 4  #: imports it


class Claim(NamedTuple):
    """One framework's claim on one file; the greatest wins."""

    signal: Signal
    depth: int = 0  # segments of the folder whose configuration holds the file
    priority: int = 100  # specialised frameworks 200, browser suites 150, the others 100


class Scope(Protocol):
    """One framework in one repository."""

    def wants(self, path: str) -> bool:
        """Whether a file is a candidate, by its path alone."""

    def needs(self, facts: FactsByPath) -> set[str]:
        """Return files that must be read too, by what was read so far; asked again until nothing is new."""

    def claim(self, path: str, facts: Facts) -> Claim | None:
        """Say how sure it is that this candidate is its own; None: it is not."""

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Return the tests of the files it owns, in any order; a test may stand in a file that was needed."""


class Framework(Protocol):
    """One test framework.  shared: its files may belong to other frameworks as well."""

    @property
    def name(self) -> str:
        """Name in every row."""

    @property
    def shared(self) -> bool:
        """Whether a file may also belong to another framework."""

    @property
    def languages(self) -> Collection[str]:
        """Ids of the languages its candidates are written in; its scope is asked about no other file."""

    def config_language(self, path: str) -> str | None:
        """Language id of a file that configures this framework or its rivals; None for any other file.

        Only the file's name counts, not its folder: of files of one name one is asked about.
        """

    def scope(self, project: Project) -> Scope:
        """Read the configuration of one repository."""
