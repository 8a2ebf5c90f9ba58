"""What the engine hands out: tests, the files they stand in, and the whole of one commit."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol

STATUSES: Final = ("active", "skipped", "todo", "focused", "xfail")
KINDS: Final = frozenset({"test", "benchmark", "example", "fuzz", "subtest"})
#: of lines, columns and cases: what a column of the database holds
LARGEST: Final = (1 << 31) - 1
#: statuses under which a test does not run, whatever the conditions
IDLE: Final = frozenset({"skipped", "todo"})

#: Facts of one file, as JSON: dicts, lists, strings, integers, booleans and None only.
Facts = dict[str, Any]

#: path -> facts of every file read so far
FactsByPath = Mapping[str, Facts]


class FactsKey(NamedTuple):
    """What facts depend on, beside the parser version that the owner of a cache adds."""

    blob_id: str
    language: str


class FactsCache(Protocol):
    """Facts of files seen before.  An owner scopes it to one parser version and one tenant."""

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        """Return what is known; unknown keys are left out."""

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        """Keep facts; called several times a run, each key once."""


class Test(NamedTuple):
    """One test definition.

    suites: enclosing classes or describe titles, outermost first.  line, column: 1-based, of the
    definition; end_line: its last line.  cases: how many cases the source shows, None if it shows none.
    kind: test, benchmark, example, fuzz, or subtest (part of the test it stands in, never counted).
    conditional: whether it runs, or is there at all, depends on what is known only where it runs.
    """

    file: str
    framework: str
    suites: tuple[str, ...]
    name: str
    line: int
    status: str = "active"
    kind: str = "test"
    dynamic: bool = False
    cases: int | None = None
    column: int = 1
    end_line: int = 0
    conditional: bool = False

    @property
    def sound(self) -> bool:
        """Whether every value is of its kind: rules take facts as they find them, and facts come from hostile files."""
        file, framework, suites, name, line, status, kind, _, cases, column, end_line, _ = self
        # written out: it is asked of every test of every run, and took a twentieth of a second one
        return (
            isinstance(file, str)
            and isinstance(framework, str)
            and isinstance(name, str)
            and all(isinstance(one, str) for one in suites)
            and isinstance(line, int)
            and 0 <= line <= LARGEST
            and isinstance(column, int)
            and 0 <= column <= LARGEST
            and isinstance(end_line, int)
            and 0 <= end_line <= LARGEST
            and (cases is None or (isinstance(cases, int) and 0 <= cases <= LARGEST))
            and isinstance(status, str)
            and status in STATUSES
            and kind in KINDS
        )

    def row(self) -> dict[str, object]:
        """Render for JSON, in the order of the contract."""
        return {
            "file": self.file,
            "framework": self.framework,
            "suites": list(self.suites),
            "name": self.name,
            "line": self.line,
            "status": self.status,
            "kind": self.kind,
            "dynamic": self.dynamic,
            "cases": self.cases,
            "column": self.column,
            "end_line": max(self.line, self.end_line),
            "conditional": self.conditional,
        }


Test.__test__ = False  # type: ignore[attr-defined]  # not a test class, whatever its name says to a collector

#: the one order of tests in every listing
ORDER: Final = attrgetter("file", "line", "column", "suites", "name", "framework")


class Checks(NamedTuple):
    """What one test checks.

    checks: in order, as `kit.bodies.CheckFact`, with `by`, the call that leads to it, and its `file` where that is
    another; subjects: functions of the repository that the test calls, as `file:name`.
    cannot_fail: empty, no_check, constant, unreachable or ignored; None if it may fail, or if nobody knows.
    """

    checks: tuple[Mapping[str, Any], ...]
    subjects: tuple[str, ...]
    cannot_fail: str | None


class FileInventory(NamedTuple):
    """One candidate file.  skipped: why it was not read, a stable code, or None.

    hints: what it imports and calls, for who wants to know what its tests are about.  checks: one for each test, if
    they were asked for; None where nobody can say.
    """

    path: str
    blob_id: str
    framework: str | None
    tests: tuple[Test, ...] = ()
    skipped: str | None = None
    hints: tuple[str, ...] = ()
    checks: tuple[Checks | None, ...] = ()

    def rows(self) -> Iterator[dict[str, object]]:
        """Render its tests for JSON, with what they check if that was asked for."""
        if not self.checks:
            yield from (test.row() for test in self.tests)
        for test, found in zip(self.tests, self.checks, strict=False):
            known = {"checks": None, "subjects": None, "cannot_fail": None} if found is None else found._asdict()
            yield {**test.row(), **known}


class Folder(NamedTuple):
    """A folder of a commit.  tree: its id; files, folders: how many are below it, symbolic links too, and itself."""

    tree: str
    files: int
    folders: int


class ReadFiles(NamedTuple):
    """What was read of one language, as paths.

    followed: files that the candidates led to; links: path -> what its rows may depend on, None if nobody asked yet.
    """

    candidates: Sequence[str]
    followed: Sequence[str]
    links: Mapping[str, Sequence[str]] | None = None


class Basis(NamedTuple):
    """What an inventory was made of, by which the next one of its repository sees what it may take over.

    blobs: path -> blob id of every file that may count; folders: by path, the root as an empty name; configs: path ->
    format of configuration files; read: by name of language; uses: path of a file with tests -> files that its calls
    lead to, None where what tests check was not asked for, or leads to too much; checked: whether it was asked for;
    blob_bytes: the limit above which files were not read.
    """

    blobs: Mapping[str, str]
    folders: Mapping[str, Folder]
    configs: Mapping[str, str]
    read: Mapping[str, ReadFiles]
    uses: Mapping[str, Sequence[str]] | None = None
    checked: bool = False
    blob_bytes: int = 0


class Inventory(NamedTuple):
    """Every test of one commit.

    is_final: the next run finds the same, as no file was left unread for a reason that may pass or be made up.
    files: candidates only, sorted by path.  unread: language -> files that look like tests, where no framework here can
    read it.  basis: None if it cannot help the next run.  unchanged: paths of files that are as in the earlier
    inventory, with what their tests check if that is asked for; they have the checks that stand there.
    """

    commit: str
    files: tuple[FileInventory, ...]
    parser_version: str
    unread: Mapping[str, int] = {}
    is_final: bool = True
    basis: Basis | None = None
    unchanged: AbstractSet[str] = frozenset()

    @property
    def tests(self) -> tuple[Test, ...]:
        """All rows, by path, line and column."""
        return tuple(chain.from_iterable(file.tests for file in self.files))

    def rows(self) -> Iterator[dict[str, object]]:
        """Render all of them for JSON, in their order."""
        return chain.from_iterable(file.rows() for file in self.files)

    def summary(self) -> dict[str, Any]:
        """Totals.  files: those with tests; subtests count with their test; by_directory: direct children only.

        unread: files that look like tests, by language that no framework here can read, the most first.
        """
        counted = [test for test in self.tests if test.kind != "subtest"]
        return {
            "files": len({test.file for test in counted}),
            "suites": len({(test.file, test.suites) for test in counted if test.suites}),
            "tests": len(counted),
            "by_status": tally(test.status for test in counted),
            "by_framework": tally(test.framework for test in counted),
            "by_directory": tally(test.file.rpartition("/")[0] or "." for test in counted),
            "unread": dict(sorted(self.unread.items(), key=lambda pair: (-pair[1], pair[0]))),
        }


def tally(names: Iterable[str]) -> dict[str, int]:
    """Count names, sorted by name so that two runs print the same."""
    return dict(sorted(Counter(names).items()))
