"""What is known of a commit before its tests are read: its paths and its runner configuration."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from testlist.model import Facts

Made = TypeVar("Made")
#: Folders in folders, and modules in modules, that a name is followed through: people's names have fewer.
DEEPEST: Final = 64


def idle() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Project:
    """One commit.  blobs: path -> blob id of every regular file.  configs: path -> facts of configuration files.

    facts: of files of one language, as they are read.
    """

    blobs: Mapping[str, str]
    configs: Mapping[str, Facts] = field(default_factory=dict)
    facts: dict[str, Facts] = field(default_factory=dict)
    shared: dict[object, Any] = field(default_factory=dict)  # what frameworks of one language work out together
    common: dict[str, frozenset[str]] = field(default_factory=dict)  # of all languages: see `folders`
    beat: Callable[[], None] = idle  # to be called now and then in loops over all files

    @property
    def paths(self) -> AbstractSet[str]:
        """Every file."""
        return self.blobs.keys()

    @property
    def folders(self) -> frozenset[str]:
        """Every folder, the root as an empty name: 9 MB of a commit with 190,000 files."""
        if "folders" not in self.common:
            self.common["folders"] = folders_of(self.blobs)
        return self.common["folders"]

    def alone(self) -> "Project":
        """The commit for the frameworks of another language, which share nothing with those of this one."""
        return replace(self, facts={}, shared={})

    def once(self, make: Callable[["Project"], Made]) -> Made:
        """What a function makes of the commit; it is called once, whoever asks."""
        if make not in self.shared:
            self.shared[make] = make(self)
        made: Made = self.shared[make]
        return made

    def data(self, path: str) -> Any:
        """Content of a configuration file; None where it is missing or broken."""
        return self.configs.get(path, {}).get("data")

    def named(self, *names: str) -> Iterator[str]:
        """Configuration files of these names, shallowest first."""
        found = (path for path in self.configs if path.rpartition("/")[2] in names)
        return iter(sorted(found, key=lambda path: (path.count("/"), path)))


def folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Every folder of some files, the root as an empty name."""
    found: set[str] = {""}
    for path in paths:
        folder = folder_of(path)
        while folder not in found:
            found.add(folder)
            folder = folder_of(folder)
    return frozenset(found)


def folder_of(path: str) -> str:
    """Directory of a path; empty for the root."""
    return path.rpartition("/")[0]


def above(path: str) -> Iterator[str]:
    """Folders a path lies in, the nearest first, the root last."""
    while path:
        path = folder_of(path)
        yield path


def endings(path: str) -> list[str]:
    """A path as it may be written from any folder around it: with fewer and fewer of its folders.

    Of a path that is deeper than any folder, only the last ones.
    """
    parts = path.split("/")[-DEEPEST:]
    return ["/".join(parts[start:]) for start in range(len(parts))]


def below(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, at any depth."""
    return not folder or path.startswith(f"{folder}/")


def joined(folder: str, path: str) -> str:
    """A relative path as configurations write it, from the root; `..` that leaves the root is dropped."""
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
