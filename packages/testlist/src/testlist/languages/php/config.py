"""Which PHP files PHPUnit and Pest would load, by phpunit.xml or, where there is none, by name."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from testlist.kit import globs
from testlist.languages.php.shape import SuiteFact
from testlist.project import Project, below, folder_of, joined

#: names of the configuration, the one that wins first
NAMES: Final = ("phpunit.xml", "phpunit.dist.xml", "phpunit.xml.dist")
#: folders of a project whose own configurations are samples for its tests
SAMPLES: Final = frozenset(
    {"test", "tests", "fixture", "fixtures", "_files", "_fixtures", "stubs", "example", "examples"}
)
ENDINGS: Final = ("Test.php", "Tests.php")
FOLDERS: Final = frozenset({"test", "tests"})


@dataclass(frozen=True, slots=True)
class Selection:
    """What one `<testsuite>` selects.  directories: (pattern of files, prefix, suffix); the rest are patterns too."""

    folder: str
    directories: tuple[tuple[str, str, str], ...]
    files: frozenset[str]
    excluded: tuple[str, ...]

    def holds(self, path: str) -> bool:
        """Whether a run would load this file."""
        name = path.rpartition("/")[2]
        if any(globs.match(path, pattern) for pattern in self.excluded):
            return False
        return path in self.files or any(
            name.endswith(suffix) and name.startswith(prefix) and globs.match(path, pattern)
            for pattern, prefix, suffix in self.directories
        )


@dataclass(slots=True)
class Configurations:
    """Every configuration of a repository that counts, by folder."""

    selections: dict[str, list[Selection]] = field(default_factory=dict)
    reaching: list[Selection] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, project: Project) -> "Configurations":
        """Read them."""
        found = cls()
        paths = sorted(project.named(*NAMES), key=lambda path: (path.count("/"), folder_of(path), rank(path)))
        for path in paths:
            folder = folder_of(path)
            data: list[SuiteFact] | None = project.data(path)
            if folder in found.selections or found.is_sample(folder, project):
                continue
            if selections := [read(folder, one) for one in data or () if one["directories"] or one["files"]]:
                found.selections[folder] = selections
                found.reaching += [each for each in selections if any(not below(one, folder) for one in places(each))]
        return found

    def is_sample(self, folder: str, project: Project) -> bool:
        """Whether a configuration lies among the tests of another and not in a package of its own."""
        sample, home = False, ""
        for part in folder.split("/") if folder else []:
            sample = sample or (part.lower() in SAMPLES and self.has_above(home))
            home = f"{home}/{part}" if home else part
            if not sample and f"{home}/composer.json" in project.paths:
                self.packages.add(home)
        return sample

    def has_above(self, folder: str) -> bool:
        """Whether a configuration governs a folder, from there up to the package it lies in."""
        while folder not in self.selections:
            if not folder or folder in self.packages:
                return False
            folder = folder_of(folder)
        return True

    def above(self, path: str) -> Iterator[Selection]:
        """Configurations in the folders around a file, and those that reach out of theirs."""
        folder = folder_of(path)
        while True:
            yield from self.selections.get(folder, ())
            if not folder:
                break
            folder = folder_of(folder)
        yield from self.reaching

    def wants(self, path: str) -> bool:
        """Whether a file would be loaded."""
        if not path.endswith(".php"):
            return False
        governing = list(self.above(path))
        if any(selections.holds(path) for selections in governing):
            return True
        if any(below(path, selections.folder) for selections in governing):
            return False
        *folders, name = path.split("/")
        return name.endswith(ENDINGS) or not FOLDERS.isdisjoint(map(str.lower, folders))


def rank(path: str) -> int:
    """Which of several configurations in a folder wins."""
    return NAMES.index(path.rpartition("/")[2])


def places(selections: Selection) -> Iterator[str]:
    """Places a selection speaks of."""
    yield from (pattern for pattern, _, _ in selections.directories)
    yield from selections.files


def read(folder: str, data: SuiteFact) -> Selection:
    """Place the paths of one selection."""
    directories = tuple(
        (f"{joined(folder, path)}/**/*".lstrip("/"), prefix, suffix) for path, prefix, suffix in data["directories"]
    )
    excluded = [joined(folder, path) for path in data["excluded"]]
    patterns = (pattern for one in excluded for pattern in (one, f"{one}/**/*"))
    return Selection(folder, directories, frozenset(joined(folder, path) for path in data["files"]), tuple(patterns))
