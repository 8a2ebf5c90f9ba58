"""What an inventory of an earlier commit still says of this one.

Where a file was added, removed or renamed, or configuration says something else, nothing is taken over: which files
are candidates depends on all of that.  Else the files of a language stay as they were if none changed that was read for
it, and of the others those stay that nothing changed for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Self

from testlist.languages import OWNERS, language_of
from testlist.loader import Loader
from testlist.model import Basis, FileInventory, Inventory, ReadFiles
from testlist.version import PARSER_VERSION


@dataclass(frozen=True, slots=True)
class EarlierFiles:
    """One language of an earlier commit.  was: the blob id of each file that was read; files: by path."""

    read: ReadFiles
    was: Mapping[str, str]
    files: Mapping[str, FileInventory]

    def is_as(self, blobs: Mapping[str, str]) -> bool:
        """Whether none of the files that were read has changed."""
        return all(blobs.get(path) == blob_id for path, blob_id in self.was.items())


@dataclass(frozen=True, slots=True)
class Earlier:
    """What may be taken over of an earlier commit, by language."""

    basis: Basis
    languages: Mapping[str, EarlierFiles]
    files: Mapping[str, FileInventory]  # all of them, with their checks
    is_final: bool

    @classmethod
    def of(cls, inventory: Inventory | None, blobs: Mapping[str, str], loader: Loader) -> Self | None:
        """None where paths are others, or what configuration says, or up to which size a file is read.

        blobs: path -> blob id of all files of this commit.

        Most changes of configuration are new versions of what a project depends on, and its facts stay the same.
        """
        basis = basis_of(inventory)
        if inventory is None or basis is None or blobs.keys() != basis.blobs.keys():
            return None
        if basis.blob_bytes != loader.repository.limits.blob_bytes:
            return None
        formats = {path: form for path, form in basis.configs.items() if blobs[path] != basis.blobs[path]}
        if formats and loader.known_of(basis.blobs, formats) != loader.read(blobs, formats):
            return None
        files: dict[str, dict[str, FileInventory]] = {name: {} for name in basis.read}
        for file in inventory.files:
            if language := language_of(file.path):
                files.setdefault(OWNERS[language].name, {})[file.path] = file._replace(checks=())
        was = {name: {path: basis.blobs[path] for path in chain(*read[:2])} for name, read in basis.read.items()}
        languages = {name: EarlierFiles(read, was[name], files[name]) for name, read in basis.read.items()}
        return cls(basis, languages, {file.path: file for file in inventory.files}, inventory.is_final)

    def kept(self, blobs: Mapping[str, str]) -> dict[str, EarlierFiles]:
        """The languages that are as they were, by name."""
        return {name: one for name, one in self.languages.items() if one.is_as(blobs)}

    def unchanged(
        self, files: Iterable[FileInventory], blobs: Mapping[str, str], *, checks: bool
    ) -> dict[str, FileInventory]:
        """The files that are as they were, by path.  checks: and what their tests check, which must be known then."""
        if checks != self.basis.checked or (checks and self.basis.uses is None):
            return {}
        uses, was = self.basis.uses or {}, self.basis.blobs
        return {
            file.path: old
            for file in files
            if (old := self.files.get(file.path)) is not None
            and file == old._replace(checks=())
            and all(blobs[path] == was[path] for path in uses.get(file.path, ()))
        }


def basis_of(inventory: Inventory | None) -> Basis | None:
    """What the inventory was made of; None where it is of other rules."""
    return inventory.basis if inventory is not None and inventory.parser_version == PARSER_VERSION else None
