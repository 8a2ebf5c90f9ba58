"""Both Python frameworks' view of one repository: candidates, what they lead to, and the tests found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from testlist.kit.fold import folded
from testlist.kit.scope import Growing
from testlist.languages.python.collect import METHODS, Collector, Hit, Rules, row
from testlist.languages.python.config import PytestScope, conftest_libraries, conftest_marks, scope_of, scopes
from testlist.languages.python.config_discovery import RunnerCommands
from testlist.languages.python.resolve_marks import given
from testlist.languages.python.resolve_names import Names, last_names
from testlist.languages.python.resolve_reachable import Rounds
from testlist.languages.python.shape import Giving, Item
from testlist.model import FactsByPath, Test
from testlist.project import Project, below


@dataclass(slots=True)
class Resolver:
    """One repository.  scopes: pytest configurations, deepest first; commands: what unittest loads by itself."""

    project: Project
    scopes: list[PytestScope]
    commands: RunnerCommands
    modules: frozenset[str]
    libraries: tuple[tuple[str, str], ...] = ()
    located: dict[tuple[str, str, int], str | None] = field(default_factory=dict)
    rounds: Rounds = field(default_factory=Rounds)
    wanted: Growing[set[str]] = field(default_factory=lambda: Growing(set()))
    folded: dict[tuple[str, ...], list[list[Hit]]] = field(default_factory=dict)
    collected: dict[str, list[Hit]] = field(default_factory=dict)
    collectors: dict[Rules, Collector] = field(default_factory=dict)
    hooks: dict[str, list[Giving]] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Read the configurations."""
        found = scopes(project)
        spoken_of = any(scope.declared for scope in found) or any(project.named("conftest.py"))
        commands = RunnerCommands.of(project, discovers=not spoken_of)
        modules, libraries = frozenset(last_names(project.paths)), tuple(conftest_libraries(project))
        return cls(project, found, commands, modules, libraries, hooks=conftest_marks(project))

    def wants(self, path: str) -> bool:
        """Decide by python_files and testpaths of the configuration that governs the path."""
        return path.endswith(".py") and self.scope_of(path).collects(path)

    def scope_of(self, path: str) -> PytestScope:
        """The configuration that governs a path."""
        return scope_of(path, self.scopes)

    def rules(self, path: str) -> Rules:
        """What a run takes for tests in a file: its configuration says, or a plugin of the folder."""
        rules = self.scope_of(path).rules
        library = next((library for folder, library in self.libraries if below(path, folder)), "")
        return replace(rules, functions=("test_",), library=library) if library else rules

    def names(self, facts: FactsByPath) -> Names:
        """Names of what has been read; where modules lie does not change, so that is kept."""
        return Names(facts, self.project.paths, self.modules, located=self.located)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that candidates' bases, decorators, imported tests and star imports lead to."""
        return self.wanted.of(facts, lambda: self.round(self.names(facts)))

    def round(self, names: Names) -> set[str]:
        """Ask every file that may lead to more than it did in the last round."""
        return self.rounds.ask(names, lambda path: self.sources(names, path))

    def sources(self, names: Names, path: str) -> Iterator[str]:
        """Files that one file leads to; of a file that is no candidate only classes count."""
        self.project.beat()
        is_candidate = self.commands.takes(path) or self.scope_of(path).collects(path)
        leads = self.leads if is_candidate else self.bases
        for item in names.body(path):
            for dotted in leads(path, item):
                yield from names.needed(path, dotted, item)
        yield from names.stars(path)

    def bases(self, path: str, item: Item) -> Iterator[str]:  # noqa: ARG002 - the interface has it
        """Bases of a class."""
        if item["k"] == "class":
            yield from item["bases"]

    def leads(self, path: str, item: Item) -> Iterator[str]:
        """Dotted names in an item whose meaning the tests of a file depend on."""
        if item["k"] in ("def", "class"):
            yield from (mark[0] for mark in item.get("marks", ()))
        if item["k"] == "class":
            yield from item["bases"]
            for inner in item["body"]:
                if inner["k"] != "def" or "marks" in inner:  # most methods lead nowhere
                    yield from self.leads(path, inner)
        elif item["k"] == "made":
            yield from (value[0] for value in item["values"])
        elif item["k"] == "set":
            marks = item["name"] == "pytestmark" or self.scope_of(path).rules.is_class(item["name"])
            marks = marks or ("called" in item and item["name"].startswith(METHODS))
            yield from (value[0] for value in item["values"] if marks or "TestCase" in value[0])
        elif item["k"] == "import" and item.get("of"):
            rules = self.scope_of(path).rules
            if rules.is_function(item["name"]) or rules.is_class(item["name"]) or "Test" in item["name"]:
                yield item["name"]

    def tests(self, owned: Sequence[str], facts: FactsByPath, framework: str) -> Iterator[Test]:
        """Rows of one framework."""
        key = tuple(owned)
        if key not in self.folded:
            self.folded[key] = self.collect(owned, facts)
        return (row(hits) for hits in self.folded[key] if hits[0].framework == framework)

    def collect(self, owned: Sequence[str], facts: FactsByPath) -> list[list[Hit]]:
        """Collect every file and fold what several classes or files share to one definition."""
        for path in owned:
            if path not in self.collected:  # the frameworks share most of their files
                self.project.beat()
                self.collected[path] = list(self.hits(path, facts))
        hits = (hit for path in owned for hit in self.collected[path])
        return folded(hits, lambda hit: hit.place)

    def hits(self, path: str, facts: FactsByPath) -> Iterator[Hit]:
        """Tests that a run would collect from one file."""
        scope, rules = self.scope_of(path), self.rules(path)
        if rules not in self.collectors:
            known = next(iter(self.collectors.values()), None)
            self.collectors[rules] = Collector(known.names if known else self.names(facts), rules)
        giving = [rule for folder, given_there in self.hooks.items() if below(path, folder) for rule in given_there]
        for hit in self.collectors[rules].module(path):
            if scope.drops(path, hit):
                continue
            if giving and hit.marks.names:
                yield hit._replace(marks=given(hit.marks, giving, scope.options))
            else:
                yield hit
