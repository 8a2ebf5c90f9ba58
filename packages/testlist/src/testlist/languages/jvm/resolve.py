"""The view that all runners of the JVM share: candidates, what they lead to, and the tests found."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.fold import folded
from testlist.kit.scope import Growing
from testlist.languages.jvm.collect import Collector, Hit, folded_row
from testlist.languages.jvm.config_builds import Builds
from testlist.languages.jvm.resolve_classes import ROOTS
from testlist.languages.jvm.resolve_names import SUFFIXES, Found, Names
from testlist.languages.jvm.resolve_specifications import Specifications
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project, folder_of

NAME: Final = re.compile(r"^Test|Tests?$|TestCase$|Spec$|Specification$|IT$|ITCase$|^IT[A-Z]")
#: folders that hold tests, by name
FOLDER: Final = re.compile(r"(?i)test|^(it|spec|specs|e2e|integration|functional|acceptance)$")

#: source sets of Kotlin that no JVM runs, as `src/jsTest/` and `native/test/`
ALONE: Final = re.compile(
    r"(?:^|/)(?:js|jsAndWasm\w*|wasm|wasmJs|wasmWasi|web|nonJvm|native[A-Z]?\w*|androidNative\w*|posix|nix|mingw\w*|windows"
    r"|(?:apple|darwin|macos|ios|tvos|watchos|linux)(?:X64|X86|Arm\w*|Simulator\w*)?)(?:Test|/test)/"
)


def is_candidate(path: str) -> bool:
    """Whether a file lies among tests or is named like one; not what a build packs into a product, nor resources."""
    stem, _, suffix = path.rpartition("/")[2].rpartition(".")
    if suffix not in SUFFIXES:
        return False
    folders = path.split("/")[:-1]
    sources = [folders[place + 1] for place in range(len(folders) - 1) if folders[place] == "src"]
    if sources and (sources[-1] == "main" or sources[-1].endswith("Main")):
        return False
    if is_resource(folders):
        return False
    return bool(NAME.search(stem)) or any(FOLDER.search(folder) for folder in folders)


def is_resource(folders: Sequence[str]) -> bool:
    """`src/NAME/resources`, whose sources nothing compiles."""
    return any(folders[place] == "src" and folders[place + 2] == "resources" for place in range(len(folders) - 2))


@dataclass(slots=True)
class Resolver:
    """One repository.  runners: folder -> runners that its build file speaks of.

    open: names that led to files when they were last asked for; all others are settled, whatever is read later.
    """

    project: Project
    names: Names
    runners: dict[str, list[str]]
    builds: Builds
    specifications: Specifications = field(default_factory=Specifications)
    candidates: dict[str, bool] = field(default_factory=dict)
    wanted: Growing[set[str]] = field(default_factory=lambda: Growing(set()))
    open: list[tuple[Found, str]] = field(default_factory=list)
    folded: dict[tuple[str, ...], list[list[Hit]]] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """List the sources."""
        sources: dict[str, list[str]] = {}
        for path in sorted(project.paths):
            stem, _, suffix = path.rpartition("/")[2].rpartition(".")
            if suffix in SUFFIXES:
                sources.setdefault(stem, []).append(path)
        builds = Builds(project)
        runners = {
            folder: [runner for data in files.values() for runner in data.get("runners", ())]
            for folder, files in builds.files.items()
        }
        return cls(project, Names(sources, {*ROOTS}), runners, builds)

    def specify(self, specifications: Specifications) -> None:
        """Take those of a framework, before any file is read."""
        self.specifications = specifications
        self.names.roots |= specifications.roots

    def wants(self, path: str) -> bool:
        """Whether a file is a candidate; every runner asks, more than once."""
        if path not in self.candidates:
            self.candidates[path] = is_candidate(path) and not self.builds.is_input(folder_of(path))
        return self.candidates[path]

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that bases and annotations lead to."""
        return self.wanted.of(facts, lambda: self.round(self.names.learn(jvm_only(facts))))

    def round(self, new: Iterable[str]) -> set[str]:
        """Files that names lead to which are open, or stand in files that are new."""
        asking = [*self.open, *(pair for path in new for pair in self.leads(path))]
        found = [(pair, set(self.names.needed(*pair))) for pair in asking]
        self.open = [pair for pair, paths in found if paths]
        return set[str]().union(*(paths for _, paths in found))

    def leads(self, path: str) -> Iterator[tuple[Found, str]]:
        """Names in one file that may lead to others, each once."""
        self.project.beat()
        seen: set[str] = set()
        for found in self.names.all(path):
            for name in leading(found, whole=self.wants(path)):
                if name not in seen:
                    seen.add(name)
                    yield found, name

    def tests(self, owned: Sequence[str], facts: FactsByPath, framework: str) -> Iterator[Test]:
        """Rows of one runner."""
        key = tuple(owned)
        if key not in self.folded:
            self.folded[key] = self.collect(owned, facts)
        return (folded_row(hits) for hits in self.folded[key] if hits[0].framework == framework)

    def collect(self, owned: Sequence[str], facts: FactsByPath) -> list[list[Hit]]:
        """Collect every file, and fold what several classes inherit to one definition."""
        self.names.learn(jvm_only(facts))
        collector = Collector(self.names, self.kotlin_test, self.specifications)
        return folded(self.hits(owned, collector), lambda hit: hit.place)

    def hits(self, owned: Sequence[str], collector: Collector) -> Iterator[Hit]:
        """What a run would collect from files."""
        for path in owned:
            self.project.beat()
            for hit in collector.file(path):
                self.project.beat()
                yield hit

    def kotlin_test(self, path: str) -> str:
        """What kotlin.test stands for where a file lies: the nearest build file that speaks of a runner decides.

        It stands for itself in source sets that no JVM runs: JavaScript's and the native runner know no JUnit.
        """
        if ALONE.search(path):
            return "kotlin-test"
        folder = folder_of(path)
        while True:
            said = self.runners.get(folder)
            if said:
                return next(runner for runner in ("junit5", "junit4", "testng") if runner in said)
            if not folder:
                return "junit5"
            folder = folder_of(folder)


def jvm_only(facts: FactsByPath) -> dict[str, Facts]:
    """Facts of files in the three languages."""
    return {path: one for path, one in facts.items() if path.rpartition(".")[2] in SUFFIXES}


def leading(found: Found, *, whole: bool) -> Iterator[str]:
    """Names in a class whose meaning its tests depend on; of a file that is no candidate only bases."""
    yield from found.item.get("bases", [])
    if whole or found.item["k"] == "annotation":
        yield from (mark[0] for mark in found.item.get("marks", []))
    if whole:
        yield from (mark[0] for method in found.item.get("methods", []) for mark in method.get("marks", []))
