"""What unittest's own discovery takes where a command of the repository tells it: a folder and a pattern of names."""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from tasks.inventory.project import Project, below, folder_of, joined

DISCOVERED: Final = "test*.py"
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

    def takes(self, path: str) -> bool:
        """Whether a file is one of its."""
        return fnmatchcase(path.rpartition("/")[2], self.pattern) and below(path, self.folder)


def discoveries(project: Project) -> tuple[Discovery, ...]:
    """All that commands ask for by a pattern of their own."""
    found = {
        discovery(folder_of(path), words[:LONGEST].split())
        for path in project.named(*NAMES)
        for line in lines(project.data(path))
        for words in line.split("unittest discover ")[1:]
    }
    return tuple(sorted((one for one in found if one.pattern != DISCOVERED), key=lambda one: (one.folder, one.pattern)))


def discovery(folder: str, words: list[str]) -> Discovery:
    """Read the arguments of one.  folder: that the command is given in."""
    given: dict[str, str] = {}
    places = list(PLACES)
    bare = [word.strip("\"'\\,") for word in words]
    while bare and bare[0] not in ENDS:
        option, equals, value = bare.pop(0).partition("=")
        if option in OPTIONS:
            given[OPTIONS[option]] = value.strip("\"'\\") if equals else bare.pop(0) if bare else ""
        elif not option.startswith("-") and places:
            given[places.pop(0)] = option
    # a folder that is computed may be any
    start = "" if set("{$") & set(given.get("start", "")) else given.get("start", "").strip("./")
    return Discovery(joined(folder, start), given.get("pattern") or DISCOVERED)


def lines(data: Any) -> Iterator[str]:
    """Lines of a configuration file that may be commands."""
    sections = data.values() if isinstance(data, dict) else ()
    for section in sections:
        values = section.values() if isinstance(section, dict) else section if isinstance(section, list) else ()
        yield from (line for value in values if isinstance(value, str) for line in value.splitlines())
