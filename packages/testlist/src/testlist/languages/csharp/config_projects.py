"""Which files of a repository belong to .NET test projects, by its MSBuild files as far as they are plain data."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from testlist.kit import globs
from testlist.project import Project, folder_of, joined

#: what a project file is called, and files that add to every project below their folder
PROJECT: Final = ".csproj"
ADDED: Final = ("Directory.Build.props", "Directory.Build.targets")
LISTED: Final = "packages.config"
#: files that projects may be built on, how these name their own folder, and how many of them are followed
SHARED: Final = (".props", ".targets")
NAMING: Final = ("packages", "projects", "usings")
HERE: Final = "$(MSBuildThisFileDirectory)"
MOST_IMPORTS: Final = 30
#: packages, projects and usings that a project has of them: one file may be imported by thousands of projects
MOST_NAMES: Final = 300
#: packages whose presence makes a project one of tests
PACKAGES: Final = re.compile(
    r"(nunit|xunit|mstest|tunit|fscheck\.[nx]unit|microsoft\.net\.test\.sdk|microsoft\.testing\."
    r"|microsoft\.visualstudio\.(testplatform|qualitytools|testtools))"
)
#: packages that bring the usings of TUnit along, and projects that do so in its own repository
TUNIT: Final = re.compile(r"(?:.*\.)?tunit(?!\.(?:assertions|mocks|analyzers))(?:\.|$)")
TUNIT_PROJECT: Final = re.compile(r"(?:.*/)?TUnit(?:\.Core)?\.csproj")
#: projects of a framework's own repository that make those who refer to them run
RUNNERS: Final = re.compile(r"(?i)(mstest|nunitlite|.*testadapter)")
TESTLIKE: Final = re.compile(r"(?i)(tests?|specs?|specifications?)(?=$|[._-])")
STEM: Final = re.compile(r"(Tests?|Specs?|Fixture)$|^Test[A-Z_]|^Tests?$")
FOLDER: Final = re.compile(r"(?i)^(tests?|specs?|.*[._-](unit|integration|functional)?tests?|.*[a-z]Tests?)$")
OUTPUT: Final = frozenset({"bin", "obj"})
#: project references followed to find a test framework
STEPS: Final = 4


def config_language(path: str) -> str | None:
    """`msbuild` for the files read here."""
    name = path.rpartition("/")[2]
    return "msbuild" if name.endswith((PROJECT, *SHARED)) or name == LISTED else None


@dataclass(slots=True)
class FolderSettings:
    """What the files of one folder say, or those of all folders above."""

    packages: set[str] = field(default_factory=set)
    usings: set[str] = field(default_factory=set)
    removed: list[tuple[list[str], list[str]]] = field(default_factory=list)  # by one project, and what it takes back
    references: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    test: bool | None = None
    runs: bool = False  # by a runner in the repository

    def add(self, data: Any, folder: str, here: str | None = None) -> None:
        """Take in one file.  folder: that its paths begin from; here: its own, if that is another one."""
        known = data if isinstance(data, dict) else {}
        self.packages.update(known.get("packages", ()))
        self.usings.update(known.get("usings", ()))
        self.references += [placed(one, folder, folder if here is None else here) for one in known.get("projects", ())]
        stems = [one.rpartition("/")[2].removesuffix(PROJECT) for one in known.get("projects", ())]
        self.runs = self.runs or any(map(RUNNERS.match, stems))
        if here is None or known.get("test"):  # a library of tests is read for those who inherit from it
            self.test = known.get("test", self.test)

    def remove(self, data: Any, folder: str) -> None:
        """Note what one project does not compile."""
        known = data if isinstance(data, dict) else {}
        both = (known.get("removed", ()), known.get("compiled", ()))
        removed, back = ([joined(folder, one) for one in some if "$(" not in one] for some in both)
        self.removed.append((removed, back))

    def compiles(self, path: str) -> bool:
        """Whether one of the projects of the folder compiles a file below it."""
        return any(
            not any(globs.match(path, one) for one in removed) or any(globs.match(path, one) for one in back)
            for removed, back in self.removed
        )

    @property
    def speaks(self) -> bool:
        """Whether a test framework is among its packages."""
        return self.runs or any(PACKAGES.match(package) for package in self.packages)

    @property
    def brings_tunit(self) -> bool:
        """Whether TUnit's own package or project is among what it refers to."""
        return any(map(TUNIT.match, self.packages)) or any(map(TUNIT_PROJECT.fullmatch, self.references))


@dataclass
class DotnetProjects:
    """The projects of one repository.  said, built_on: of files that are imported, each read once."""

    project: Project
    said: dict[str, dict[str, Any]] = field(default_factory=dict)
    built_on: dict[str, list[str]] = field(default_factory=dict)
    nearest: dict[str, str | None] = field(default_factory=dict)
    verdicts: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def own(self) -> dict[str, FolderSettings]:
        """Folder -> what its project files say."""
        found: dict[str, FolderSettings] = {}
        for path in sorted(self.project.configs):
            folder, _, name = path.rpartition("/")
            if name.endswith(PROJECT):
                found.setdefault(folder, FolderSettings()).names.append(name.removesuffix(PROJECT))
                found[folder].add(self.project.data(path), folder)
                self.lend(path, found[folder])
                found[folder].remove(self.project.data(path), folder)
        for folder, settings in found.items():
            settings.add(self.project.data(f"{folder}/{LISTED}" if folder else LISTED), folder)
        return found

    def lend(self, path: str, settings: FolderSettings) -> None:
        """Add what a project has of files that it imports."""
        left = MOST_NAMES
        for imported in self.imported(path):
            said = self.shared(imported)
            left -= sum(len(said.get(key, ())) for key in NAMING)
            if left < 0:
                break
            settings.add(said, folder_of(path), folder_of(imported))

    def shared(self, path: str) -> dict[str, Any]:
        """What an imported file says that means anything to those who import it, and not without end."""
        if path not in self.said:
            data = self.project.data(path)
            known = data if isinstance(data, dict) else {}
            packages = [one for one in known.get("packages", ()) if PACKAGES.search(one)]
            said = {**known, "packages": sorted({*packages})}
            self.said[path] = {**said, **{key: said[key][: MOST_NAMES // 3] for key in NAMING if key in said}}
        return self.said[path]

    def imports(self, path: str) -> list[str]:
        """Files of the repository that a file imports itself."""
        if path not in self.built_on:
            data, folder = self.project.data(path), folder_of(path)
            named = data.get("imports", ()) if isinstance(data, dict) else ()
            places = dict.fromkeys(placed(other, folder, folder) for other in named)
            self.built_on[path] = [place for place in places if place in self.project.configs]
        return self.built_on[path]

    def imported(self, path: str) -> Iterator[str]:
        """Files of the repository that a project file is built on, by paths that are written there."""
        todo, seen = [path], {path}
        while todo and len(seen) <= MOST_IMPORTS:
            new = [place for place in self.imports(todo.pop(0)) if place not in seen]
            yield from new
            seen.update(new)
            todo += new

    @cached_property
    def linked(self) -> dict[str, str]:
        """Pattern of files outside a project's folder that it compiles -> folder of the project."""
        return {
            joined(folder_of(path), one): folder_of(path)
            for path in self.project.configs
            if path.endswith(PROJECT) and isinstance(data := self.project.data(path), dict)
            for one in data.get("compiled", ())
            if one.startswith("../") and "$(" not in one
        }

    def folder(self, path: str) -> str | None:
        """Folder of the project a file lies in; None outside all projects."""
        folder = folder_of(path)
        if folder not in self.nearest:
            inner = folder in self.own
            self.nearest[folder] = folder if inner else self.folder(folder) if folder else None
        return self.nearest[folder]

    def above(self, folder: str, *, root: bool = True) -> Iterator[FolderSettings]:
        """What the folders from this one up, perhaps without the root, add to every project below them."""
        while folder or root:
            for name in ADDED:
                settings = FolderSettings()
                settings.add(self.project.data(f"{folder}/{name}" if folder else name), folder)
                yield settings
            if not folder:
                return
            folder = folder_of(folder)

    def settings(self, path: str) -> Iterator[FolderSettings]:
        """All settings of the project of a file, the nearest first."""
        folder = self.folder(path)
        if folder is not None:
            yield self.own[folder]
        yield from self.above(folder if folder is not None else folder_of(path))

    def wants(self, path: str) -> bool:
        """Whether a file may hold tests that are run."""
        if not path.endswith(".cs") or not OUTPUT.isdisjoint(path.split("/")[:-1]):
            return False
        folder = self.folder(path)
        if folder is None:
            return testlike(path) or any(self.is_test(home) for home in self.linking(path))
        return self.is_test(folder) and self.own[folder].compiles(path)

    def linking(self, path: str) -> Iterator[str]:
        """Folders of projects that compile a file from elsewhere."""
        yield from (folder for pattern, folder in self.linked.items() if globs.match(path, pattern))

    def is_test(self, folder: str) -> bool:
        """Whether the project of a folder is one of tests."""
        return self.own[folder].test is not False and self.is_related(folder)

    def is_related(self, folder: str) -> bool:
        """Whether the project of a folder has to do with tests; it may be a library that others derive theirs from."""
        if folder not in self.verdicts:
            settings = self.own[folder]
            named = any(TESTLIKE.search(name) for name in settings.names) or any(map(FOLDER.match, folder.split("/")))
            # what is added to all projects of a repository is added under conditions; lower down it holds for all
            added = any(one.speaks for one in self.above(folder, root=False))
            self.verdicts[folder] = named or added or bool(settings.test) or self.speaks(folder)
        return self.verdicts[folder]

    def speaks(self, folder: str) -> bool:
        """Whether a project refers to a test framework, itself or through projects it refers to."""
        return any(one.speaks for one in self.reached(folder))

    def uses_tunit(self, path: str) -> bool:
        """Whether the project of a file has the usings of TUnit, by its own packages or through projects."""
        folder = self.folder(path)
        reached = self.reached(folder) if folder is not None else ()
        return any(one.brings_tunit for one in (*self.settings(path), *reached))

    def reached(self, folder: str) -> Iterator[FolderSettings]:
        """Settings of a project and of those it refers to, the nearest first."""
        reached = [folder]
        for _ in range(STEPS):
            settings = [self.own[one] for one in reached if one in self.own]
            yield from settings
            reached = sorted({folder_of(path) for one in settings for path in one.references})


def placed(path: str, folder: str, here: str) -> str:
    """A path as MSBuild files write it, from the root.  folder: that it begins from; here: of the file itself."""
    return joined(here, path.removeprefix(HERE)) if path.startswith(HERE) else joined(folder, path)


def testlike(path: str) -> bool:
    """Whether the name of a file or of a folder around it speaks of tests."""
    *folders, name = path.split("/")
    return bool(STEM.search(name.removesuffix(".cs"))) or any(FOLDER.match(folder) for folder in folders)
