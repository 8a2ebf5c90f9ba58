"""What jest, vitest, mocha and their kin have in common: areas of configuration, and whose file is whose."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from testlist.interface import Claim, Signal
from testlist.kit import globs
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages import language_of
from testlist.languages.javascript.collect import Dialect, Rows
from testlist.languages.javascript.config_announced import Announced
from testlist.languages.javascript.config_files import format_of, is_data
from testlist.languages.javascript.language import JAVASCRIPT
from testlist.languages.javascript.resolve import Resolver
from testlist.languages.javascript.shape import shape
from testlist.languages.javascript.vocabulary_files import likely
from testlist.languages.javascript.vocabulary_modules import RUNNERS
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project, below, folder_of

LANGUAGES: Final = JAVASCRIPT.ids
#: folders whose files look like tests and are none
NO_TESTS: Final = frozenset({"__fixtures__", "__mocks__", "__snapshots__"})


@dataclass(frozen=True, slots=True)
class Area:
    """One configuration.  folder: what it governs; include, exclude: patterns from the root of the repository."""

    folder: str
    include: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    also: Callable[[str], bool] | None = None  # a further condition on a path
    loose: bool = False  # names files that may read others, so that what it does not hold may run all the same
    open: bool = False  # says at run time what it holds

    def holds(self, path: str) -> bool:
        """Whether a run would read this file."""
        if not below(path, self.folder) or any(globs.match(path, pattern) for pattern in self.exclude):
            return False
        return any(globs.match(path, pattern) for pattern in self.include) and (self.also is None or self.also(path))

    @property
    def depth(self) -> int:
        """Segments of the folder."""
        return self.folder.count("/") + 1 if self.folder else 0


@dataclass(frozen=True, slots=True)
class Runner:
    """The signs by which one runner is distinguished from the others.

    modules: imports that are its own.  packages: dependencies and programs that announce it.  uses: objects
    only it has.  guess: it is assumed where nothing else is known.  bare: its names are global, so that a test
    need not import them.  suites: it has `describe`.  usual: names of its files where nothing is configured.
    own: names of files that are no other runner's.
    """

    name: str
    modules: frozenset[str]
    packages: frozenset[str]
    uses: frozenset[str] = frozenset()
    priority: int = 100
    guess: bool = False
    bare: bool = True
    suites: bool = True
    usual: Callable[[str], bool] = likely
    own: Callable[[str], bool] | None = None
    dialect: Dialect = field(default_factory=Dialect)


@dataclass(slots=True)
class RunnerScope(DefaultScope):
    """One runner in one repository."""

    runner: Runner
    areas: Sequence[Area]
    resolver: Resolver
    announced: Announced

    def wants(self, path: str) -> bool:
        """Decide by the configurations that govern the path, or by its name if there are none."""
        if not is_readable(path):
            return False
        runner = self.runner
        governing = [area for area in self.areas if below(path, area.folder)]
        if any(area.holds(path) for area in governing):
            return True
        if is_data(path):  # what a file says there, an import of the runner as well, is said to another program
            return False
        deepest = max((area.depth for area in governing), default=0)
        unknown = any(area.open for area in governing if area.depth == deepest)
        if not (unknown or all(area.loose for area in governing)) or not runner.usual(path):
            return False
        return runner.usual is likely or likely(path) or self.expected(folder_of(path))

    def expected(self, folder: str) -> bool:
        """Whether the packages around a folder leave room for this runner."""
        packages = self.announced.around(folder)
        return not packages or not packages.isdisjoint(self.runner.packages)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that tests share, which may define tests."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:
        """Claim a file by its imports, then by configuration, then by signs in the file or its package."""
        found = self.evidence(path, facts)
        if found is not None:  # whoever gets it, it is no file that others only share
            self.resolver.taken.add(path)
        return found

    def evidence(self, path: str, facts: Facts) -> Claim | None:
        """What shows that a file is its own."""
        runner, found = self.runner, shape(facts)
        imported, uses = RUNNERS & set(found["imports"]), runner.uses & set(found["uses"])
        if imported:
            return Claim(Signal.IMPORT, 0, runner.priority) if imported & runner.modules else None
        if not runner.suites and any("root" in call and call["root"] == "describe" for call in found["calls"]):
            return None
        if runner.own is not None and runner.own(path):
            return Claim(Signal.NAME, 0, runner.priority)
        # names that are not global must come from somewhere: others who need no import go before
        priority = runner.priority if runner.bare else runner.priority - 100
        depth = max((area.depth for area in self.areas if area.holds(path)), default=None)
        # who has names and an object of its own is given files of others now and then
        shown = uses or runner.name in path
        if depth is not None and (shown or not runner.uses or (runner.bare and runner.own is None)):
            return Claim(Signal.CONFIG, depth, priority)
        packages = self.announced.around(folder_of(path))
        announced = not packages.isdisjoint(runner.packages)
        if uses or (announced and runner.bare):
            return Claim(Signal.CONTENT, 0, priority)
        # who has an object of its own or global names shows itself where it is used
        guess = (runner.guess and not packages) if runner.bare else (announced and not runner.uses)
        guess = guess or depth is not None
        return Claim(Signal.GUESS, 0, priority) if guess else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Calls of it, test and specify."""
        taken = self.resolver.taken
        for path in owned:
            yield from self.rows(path, facts)
        for path in sorted(self.resolver.reached(owned, facts)):
            if path not in taken and path in facts and self.may_share(facts[path]):
                found = list(self.rows(path, facts))
                if found:  # else another runner may know what the calls are
                    taken.add(path)
                yield from found

    def rows(self, path: str, facts: FactsByPath) -> Iterator[Test]:
        """Tests of one file."""
        lent = self.resolver.lent(path, facts)
        return Rows(path, self.runner.name, self.runner.dialect, lent).of(shape(facts[path]))

    def may_share(self, facts: Facts) -> bool:
        """Whether a file that tests import could define tests of this runner."""
        imported = RUNNERS & set(shape(facts).get("imports", ()))
        return "skipped" not in facts and (not imported or not imported.isdisjoint(self.runner.modules))


def framework(runner: Runner, areas: Callable[[Project], Iterable[Area]]) -> DeclaredFramework:
    """A runner as a framework.  areas: reads its configurations.

    package.json configures it, and files called NAME.config.*, .NAMErc.*, NAME.workspace.*.
    """
    return DeclaredFramework(
        runner.name,
        LANGUAGES,
        lambda project: RunnerScope(runner, list(areas(project)), project.once(Resolver.of), project.once(Announced)),
        configures=format_of,
    )


@lru_cache(maxsize=8_192)
def is_readable(path: str) -> bool:
    """Whether a file could hold tests of any runner; each of them asks."""
    if language_of(path) not in LANGUAGES or path.endswith((".d.ts", ".d.mts", ".d.cts")):
        return False
    return NO_TESTS.isdisjoint(path.split("/"))


def strings(value: Any) -> list[str]:
    """A string, or the strings of a list."""
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str)]


def outer(folder: str, base: str) -> str:
    """What a configuration governs: its own folder, unless it points out of it."""
    return folder if f"{base}/".startswith(f"{folder}/") or not folder else base
