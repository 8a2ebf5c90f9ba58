"""The files that unittest takes if a command of the repository names them: a folder and a pattern of names, or modules.

Discovery loads every package that it enters, whatever the pattern: cases in an `__init__.py` count, and those that it
imports.  The folder where it starts is no package unless a folder above it is named as the top.
"""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from testlist.languages.python.resolve_names import SOURCES
from testlist.project import Project, above, below, folder_of, joined

DISCOVERED: Final = "test*.py"
INIT: Final = "__init__.py"
DOTTED: Final = re.compile(r"\w+(?:\.\w+)+")
#: how a command calls it
STARTS: Final = re.compile(r"-m\s*unittest(?![\w.])|\bunittest(?=\sdiscover\b)")
#: files whose commands are looked through
NAMES: Final = ("pyproject.toml", "tox.ini", "setup.cfg")
#: options with a value, by what they stand for
OPTIONS: Final = {
    "-s": "start", "--start-directory": "start", "-p": "pattern", "--pattern": "pattern",
    "-t": "top", "--top-level-directory": "top", "-k": "", "--durations": "",
}  # fmt: skip
#: what they are without a name, in order
PLACES: Final = ("start", "pattern", "top")
#: letters of the arguments of one command that are read
LONGEST: Final = 400
#: ends of a command
ENDS: Final = frozenset({"&&", "||", ";", "|"})


@dataclass(frozen=True, slots=True)
class Discovery:
    """One command."""

    folder: str
    pattern: str = DISCOVERED
    top: str | None = None

    def takes(self, path: str) -> bool:
        """Whether a file is one of its, by its name."""
        return fnmatchcase(path.rpartition("/")[2], self.pattern) and below(path, self.folder)

    def reaches(self, folder: str, paths: Collection[str]) -> bool:
        """Whether it comes to a folder; one with a pattern of its own may be meant for several starts."""
        return self.pattern != DISCOVERED or folder == self.folder or self.enters(folder, paths)

    def enters(self, package: str, paths: Collection[str]) -> bool:
        """Whether it loads a package.  paths: every file, as a folder without `__init__.py` ends its way."""
        if package == self.folder:
            return self.top is not None and package != self.top
        inside = [
            folder for folder in (package, *above(package)) if below(folder, self.folder) and folder != self.folder
        ]
        return bool(inside) and all(joined(folder, INIT) in paths for folder in inside)


@dataclass(frozen=True, slots=True)
class RunnerCommands:
    """All commands of a repository.  discovers: unittest is the only runner that it speaks of.

    modules: files that commands name.
    """

    project: Project
    discovers: bool
    discoveries: tuple[Discovery, ...]
    modules: frozenset[str]

    @classmethod
    def of(cls, project: Project, *, discovers: bool) -> "RunnerCommands":
        """Read the files with commands."""
        return cls(project, discovers, tuple(discoveries(project)), frozenset(modules(project)))

    def takes(self, path: str) -> bool:
        """Whether unittest loads a file by itself."""
        name, folder = path.rpartition("/")[2], folder_of(path)
        if path in self.modules:
            return True
        if name == INIT:
            entered = any(one.enters(folder, self.project.paths) for one in self.discoveries)
            return entered or (self.discovers and not self.discoveries and folder != "")
        if self.discovers and fnmatchcase(name, DISCOVERED):
            return True
        return any(one.takes(path) and one.reaches(folder, self.project.paths) for one in self.discoveries)


def discoveries(project: Project) -> list[Discovery]:
    """All that commands ask for, by the word or by naming nothing."""
    found = {
        discovery(folder, words[1:] if words[:1] == ["discover"] else [])
        for folder, words in commands(project)
        if words[:1] == ["discover"] or (not set("{$").intersection("".join(words)) and not any(names(words)))
    }
    return sorted(found, key=lambda one: (one.folder, one.pattern, one.top or ""))


def modules(project: Project) -> Iterator[str]:
    """Files that commands name as modules or packages, or by a class or a method in one."""
    for folder, words in commands(project):
        for name in names(words) if words[:1] != ["discover"] else ():
            for place in (joined(folder, source) for source in ("", *SOURCES)):
                stems = [joined(place, "/".join(name[: len(name) - cut])) for cut in range(min(3, len(name)))]
                files = (f"{stem}{end}" for stem in stems for end in (".py", f"/{INIT}"))
                yield from itertools.islice((file for file in files if file in project.paths), 1)


def names(words: Sequence[str]) -> Iterator[list[str]]:
    """Dotted names among the arguments of a command, in parts."""
    for word in words:
        parts = word.removesuffix(".py").replace("/", ".").split(".")
        if all(part.isidentifier() for part in parts):
            yield parts


def commands(project: Project) -> Iterator[tuple[str, list[str]]]:
    """The folder in which a command calls unittest, and its arguments."""
    for path in project.named(*NAMES):
        for line in lines(project.data(path)):
            for words in STARTS.split(line)[1:]:
                bare = (word.strip("\"'\\,") for word in words[:LONGEST].split())
                yield folder_of(path), list(itertools.takewhile(lambda word: word not in ENDS, bare))


def discovery(folder: str, words: list[str]) -> Discovery:
    """Read the arguments of one.  folder: that the command is given in."""
    given: dict[str, str] = {}
    places = list(PLACES)
    bare = list(words)
    while bare:
        option, equals, value = bare.pop(0).partition("=")
        if option in OPTIONS:
            given[OPTIONS[option]] = value.strip("\"'\\") if equals else bare.pop(0) if bare else ""
        elif not option.startswith("-") and places:
            given[places.pop(0)] = option
    # a folder that is computed may be any
    start, top = (place_of(given[one], folder) if one in given else None for one in ("start", "top"))
    if top is None and DOTTED.fullmatch(given.get("start", "")):
        top = folder  # the start is a package by its name
    return Discovery(folder if start is None else start, given.get("pattern") or DISCOVERED, top)


def place_of(written: str, folder: str) -> str:
    """A folder, or a package by its dotted name."""
    if set("{$") & set(written):
        return folder
    place = written if "/" in written or not written.strip(".") else written.replace(".", "/")
    return joined(folder, place)


def lines(data: Any) -> Iterator[str]:
    """Lines of a configuration file that may be commands."""
    sections = data.values() if isinstance(data, dict) else ()
    for section in sections:
        values = section.values() if isinstance(section, dict) else section if isinstance(section, list) else ()
        yield from (line for value in values if isinstance(value, str) for line in value.splitlines())
