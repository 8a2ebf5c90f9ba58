"""One repository of Elixir: which modules are test cases, also through case templates, and which macros write tests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from testlist.kit.hierarchy import Hierarchy
from testlist.kit.scope import Growing
from testlist.languages.elixir.config import HELPER, SOURCES, Projects
from testlist.languages.elixir.shape import ElixirFacts, ModuleFact, shape
from testlist.languages.elixir.vocabulary import CASE, HELPERS, TEMPLATE
from testlist.model import FactsByPath
from testlist.project import Project, folder_of, joined

#: files of one name that are looked at
MANY: Final = 20


def is_foreign_case(name: str) -> bool:
    """Whether a module of somebody else's library may make a test case of one that uses it and declares tests."""
    return name not in HELPERS


@dataclass(slots=True)
class Known:
    """What all files say together.

    called: names called in bodies of modules; titled: those that are given a title and a block; open: macros that
    take their titles from the caller; used: modules that test cases use; required: files that are loaded by name;
    excluded: of each project the tags that a run leaves out.
    """

    cases: Hierarchy = field(default_factory=lambda: Hierarchy(CASE, is_foreign_case))
    called: set[str] = field(default_factory=set)
    titled: set[str] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    required: set[str] = field(default_factory=set)
    excluded: dict[str | None, set[str]] = field(default_factory=dict)

    def is_case(self, module: ModuleFact | None) -> bool:
        """Whether tests can be declared in a module."""
        return module is not None and any(self.cases.ends(name) for name in module["uses"])

    def learn(self, files: Sequence[tuple[str, ElixirFacts]], projects: Projects) -> None:
        """Take what every file says, before anything is asked."""
        for path, one in files:
            self.called.update(one.get("calls", ()))
            self.titled.update(fact["word"] for fact in one.get("tests", ()) if "word" in fact)
            self.open.update(fact["macro"] for fact in one.get("tests", ()) if "macro" in fact and "open" in fact)
            self.required.update(place for name in one.get("requires", ()) for place in places(path, name, projects))
            if path.endswith(HELPER):
                self.excluded.setdefault(projects.around(path), set()).update(one.get("excludes", ()))
            for module in one.get("modules", ()):
                self.cases.declare(module["name"], module.get("offers", ()))
                self.cases.declare(module["name"], [CASE] if TEMPLATE in module["uses"] else [])
        self.use(module for _, one in files for module in one.get("modules", ()))

    def use(self, modules: Iterable[ModuleFact]) -> None:
        """Follow what test cases use, and what that uses."""
        todo = [name for module in modules if self.is_case(module) for name in module["uses"]]
        while todo:
            name = todo.pop()
            if name not in self.used:
                self.used.add(name)
                todo += self.cases.bases.get(name, ())


@dataclass
class Resolver:
    """One repository."""

    project: Project
    projects: Projects
    growing: Growing[Known] = field(default_factory=lambda: Growing(Known()))

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Read the project files."""
        return cls(project, Projects(project))

    def known(self, facts: FactsByPath) -> Known:
        """What the files that were read say together."""
        return self.growing.of(facts, lambda: self.learnt(facts))

    def learnt(self, facts: FactsByPath) -> Known:
        """Work that out."""
        known = Known()
        known.learn([(path, shape(facts[path])) for path in sorted(facts) if path.endswith(SOURCES)], self.projects)
        return known

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """File name without suffix, underscores and capitals -> paths."""
        found: dict[str, list[str]] = {}
        for path in self.project.paths:
            if path.endswith(SOURCES) and not self.projects.apart(path):
                stem = path.rpartition("/")[2].rpartition(".")[0].replace("_", "").lower()
                found.setdefault(stem, []).append(path)
        return found

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that are called like a module which is used, and which nothing read so far declares."""
        known = self.known(facts).cases.bases
        names = {
            name
            for path in facts
            if path.endswith(SOURCES)
            for module in shape(facts[path]).get("modules", ())
            for name in (*module["uses"], *module.get("offers", ()))
            if name not in known and name not in HELPERS
        }
        stems = {name.rpartition(".")[2].lower() for name in names}
        return {path for stem in stems for path in sorted(self.stems.get(stem, ()))[:MANY]} - facts.keys()


def places(path: str, name: str, projects: Projects) -> set[str]:
    """Where a file may be that another loads: from the folder of that, or of its project."""
    return {joined(folder_of(path), name), joined(projects.around(path) or "", name)}
