"""What an inventory of an earlier commit still says of this one.

Where a file was added, removed or renamed, or configuration says something else, nothing is taken over: which files
are candidates depends on all of that.  Else the files of a language stay as they were if none changed that was read for
it, and of the others those stay that nothing changed for.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Self

from testlist.languages import OWNERS, language_of
from testlist.loader import Loader
from testlist.model import Basis, FileInventory, Inventory, ReadFiles
from testlist.version import PARSER_VERSION


@dataclass(frozen=True, slots=True)
class EarlierFiles:
    """One language of an earlier commit.  files: by path."""

    read: ReadFiles
    files: Mapping[str, FileInventory]

    @property
    def blobs(self) -> Iterator[tuple[str, str]]:
        """Every file that was read, with its blob id."""
        yield from self.read.candidates.items()
        yield from self.read.followed.items()

    def is_as(self, blobs: Mapping[str, str]) -> bool:
        """Whether none of the files that were read has changed."""
        return all(blobs.get(path) == blob_id for path, blob_id in self.blobs)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What may be taken over of an earlier commit, by language."""

    basis: Basis
    languages: Mapping[str, EarlierFiles]
    files: Mapping[str, FileInventory]  # all of them, with their checks

    @classmethod
    def of(cls, inventory: Inventory | None, blobs: Mapping[str, str], loader: Loader) -> Self | None:
        """None where paths are others, or what configuration says.  blobs: path -> blob id of all files of this commit.

        Most changes of configuration are new versions of what a project depends on, and its facts stay the same.
        """
        if inventory is None or inventory.basis is None or inventory.parser_version != PARSER_VERSION:
            return None
        basis = inventory.basis
        if digest(blobs) != basis.paths:
            return None
        old = {path: blob_id for path, (blob_id, _) in basis.configs.items() if blobs[path] != blob_id}
        formats = {path: basis.configs[path][1] for path in old}
        if old and loader.known_of(old, formats) != loader.read(blobs, formats):
            return None
        files: dict[str, dict[str, FileInventory]] = {name: {} for name in basis.read}
        for file in inventory.files:
            if language := language_of(file.path):
                files.setdefault(OWNERS[language].name, {})[file.path] = file._replace(checks=())
        languages = {name: EarlierFiles(read, files[name]) for name, read in basis.read.items()}
        return cls(basis, languages, {file.path: file for file in inventory.files})

    def kept(self, blobs: Mapping[str, str]) -> dict[str, EarlierFiles]:
        """The languages that are as they were, by name."""
        return {name: one for name, one in self.languages.items() if one.is_as(blobs)}

    def unchanged(
        self, files: Iterable[FileInventory], blobs: Mapping[str, str], *, checks: bool
    ) -> dict[str, FileInventory]:
        """The files that are as they were, by path.  checks: and what their tests check, which must be known then."""
        bodies = self.basis.bodies
        if checks != (bodies is not None):
            return {}
        read, uses = (bodies.blobs, bodies.uses) if bodies is not None else ({}, {})
        changed = {path for path, blob_id in read.items() if blobs[path] != blob_id}
        return {
            file.path: old
            for file in files
            if (old := self.files.get(file.path)) is not None
            and file == old._replace(checks=())
            and changed.isdisjoint(uses.get(file.path, ()))
        }


def digest(paths: Iterable[str]) -> str:
    """A digest of the names of all files."""
    return sha256("\0".join(sorted(paths)).encode("utf-8", "surrogatepass")).hexdigest()
