"""Which builds of a repository are only the input of others: samples of a build tool, examples that are shipped.

A build is a folder with a file of Maven or Gradle.  One that another build names is part of it, wherever it lies.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from testlist.kit.commands import is_command_file
from testlist.languages.jvm.config_build_files import BUILDS, POM, SETTINGS
from testlist.languages.jvm.shape import BuildFact
from testlist.project import Project, above, below, endings, folder_of, joined

#: a folder that shows how something is used, where its build is apart from the one around it
SHOWN: Final = frozenset({"example", "examples", "sample", "samples", "demo", "demos", "it", "its"})
#: the build that Gradle runs before any other
FIRST: Final = "buildSrc"


@dataclass
class Builds:
    """The builds of one repository."""

    project: Project
    nearest: dict[str, str | None] = field(default_factory=dict)
    verdicts: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def files(self) -> dict[str, dict[str, BuildFact]]:
        """Folder -> name of each build file in it -> what it says."""
        found: dict[str, dict[str, BuildFact]] = {}
        for path in sorted(self.project.configs):
            folder, _, name = path.rpartition("/")
            if name == POM or name in BUILDS or name in SETTINGS:
                data: BuildFact | None = self.project.data(path)
                found.setdefault(folder, {})[name] = data or {}
        return found

    @cached_property
    def named(self) -> dict[str, set[str]]:
        """Folder -> folders of builds that name it as a project."""
        found: dict[str, set[str]] = {}
        for folder, files in self.files.items():
            for data in files.values():
                for one in data.get("projects", ()):
                    place = joined(folder, one)
                    found.setdefault(folder_of(place) if place.endswith(".xml") else place, set()).add(folder)
        return found

    @cached_property
    def places(self) -> set[str]:
        """Folders that commands work in, as they write them; `*` for any."""
        commands = (self.project.data(path) or {} for path in self.project.configs if is_command_file(path))
        return {place for one in commands for place in one.get("places", ())}

    def of(self, folder: str) -> str | None:
        """Folder of the build that a folder belongs to."""
        if folder not in self.nearest:
            self.nearest[folder] = folder if folder in self.files else self.of(folder_of(folder)) if folder else None
        return self.nearest[folder]

    def is_input(self, folder: str) -> bool:
        """Whether files in a folder belong to a build that is only tried or shown."""
        build = self.of(folder)
        if build is None:
            return False
        if build not in self.verdicts:
            self.verdicts[build] = False  # builds may name each other
            self.verdicts[build] = self.judged(build)
        return self.verdicts[build]

    def judged(self, build: str) -> bool:
        """Judge a build by the builds that name it, otherwise by its place in the build around it."""
        outer = self.of(folder_of(build)) if build else None
        if outer is None:
            return False
        if namers := self.named.get(build, set()) - {build}:
            return all(self.is_input(one) for one in namers)
        return self.is_input(outer) or self.is_apart(build, outer)

    def is_apart(self, build: str, outer: str) -> bool:
        """Whether nobody runs a build that lies in another which does not name it."""
        if self.is_refused(build):
            return True
        inside = build[len(outer) :].strip("/").split("/")
        if inside[0] == "src" and len(inside) > 2 and self.has_sources(outer):
            return not self.is_entered(build, outer)
        shown = any(not SHOWN.isdisjoint(part.replace(".", "-").split("-")) for part in build.split("/"))
        return shown and self.is_own(build) and "*" not in self.places and not self.is_entered(build, "")

    def is_entered(self, build: str, outer: str) -> bool:
        """Whether commands work in a build, or in a folder around it within another one."""
        way = [build, *(one for one in above(build) if one != outer and below(one, outer))]
        return any(not self.places.isdisjoint(endings(folder)) for folder in way)

    def is_refused(self, build: str) -> bool:
        """Whether Gradle takes no such project: the settings around it, which name all, do not name it."""
        if not BUILDS.intersection(self.files[build]) or POM in self.files[build] or FIRST in build.split("/"):
            return False
        settings = self.settings(build)
        return settings is not None and settings != build and self.is_whole(settings)

    def is_own(self, build: str) -> bool:
        """Whether a build stands by itself."""
        if POM in self.files[build]:
            return not any(POM in self.files.get(one, {}) and not self.is_whole(one) for one in above(build))
        return self.settings(build) in (None, build)

    def is_whole(self, folder: str) -> bool:
        """Whether the build files of a folder name all of their projects."""
        return all(data.get("whole", False) for data in self.files[folder].values())

    def settings(self, build: str) -> str | None:
        """The nearest folder with Gradle's settings."""
        return next((one for one in (build, *above(build)) if SETTINGS.intersection(self.files.get(one, ()))), None)

    def has_sources(self, build: str) -> bool:
        """Whether `src` of a build holds its sources, so that folders in it are no projects."""
        return any(joined(build, f"src/{one}") in self.project.folders for one in ("main", "test"))
