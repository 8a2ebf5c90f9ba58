"""The files of a commit: its folders are read level by level and hashed, then walked in git's order.

A folder that an earlier commit had under the same path is not read again: it is one leaf.  git is asked for the sizes
of such folders and of those below them, so that the same are refused or missed as if they were read.
"""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from testlist.below import Below
from testlist.errors import InventoryError
from testlist.git.commits import root_of
from testlist.git.containment import damaged
from testlist.git.objects import Header, Objects
from testlist.git.process import GitLimits
from testlist.model import Folder

#: bytes of an id -> a row of a folder: mode, name, id
ROW: Final = {size: re.compile(rb"([0-7]{5,6}) ([^\0/]+)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)}
FOLDERS: Final = frozenset({b"40000", b"040000"})

Row = tuple[bytes, bytes, bytes]


class Leaf(NamedTuple):
    """A file, a symbolic link, another repository, or a folder as it was.  path, mode: as in git, `/` behind folders.

    The root has an empty path.
    """

    path: bytes
    mode: bytes
    object_id: str


@dataclass(slots=True)
class _Open:
    """A folder while it is walked.  files, folders: of the commit, when it began."""

    path: bytes
    tree: bytes
    rows: Iterator[Row]
    files: int
    folders: int


@dataclass(slots=True)
class Trees:
    """Folders of one commit.  earlier: those of another one, by path; folders: those of this one, once it was walked.

    Paths with U+FFFD are in neither, as two of them may be shown alike.
    """

    objects: Objects
    limits: GitLimits
    earlier: Mapping[str, Folder] = field(default_factory=dict)
    known: dict[bytes, bytes] = field(default_factory=dict)  # by binary id; folders of equal content are one
    total: int = 0  # bytes
    files: int = 0
    count: int = 0  # folders
    folders: dict[str, Folder] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)  # folders as they were, by path

    def leaves(self, commit: str) -> Iterator[Leaf]:
        """Yield what the commit holds, in git's order.  Raises: InventoryError."""
        yield from self._walked(bytes.fromhex(root_of(self.objects, commit)))
        self._look()

    def _walked(self, root: bytes) -> Iterator[Leaf]:
        if (leaf := self._as_it_was(b"", root)) is not None:
            yield leaf
            return
        self._load({root}, {bytes.fromhex(folder.tree) for folder in self.earlier.values()})
        stack = [self._opened(b"", root)]
        while stack:
            top = stack[-1]
            for mode, name, object_id in top.rows:
                path = top.path + name
                if len(path) > self.limits.path_bytes or len(stack) > self.limits.depth + 1:
                    raise _too_large("paths that are too long or too deep")
                if mode not in FOLDERS:
                    self.files += 1
                    self._bound()
                    yield Leaf(path, mode, object_id.hex())
                elif (leaf := self._as_it_was(path + b"/", object_id)) is not None:
                    yield leaf
                else:
                    stack.append(self._opened(path + b"/", object_id))
                    break
            else:
                self._close(stack.pop())

    def _opened(self, path: bytes, tree: bytes) -> _Open:
        rows = self._rows(tree)
        self._bring(path, rows)
        begun = _Open(path, tree, iter(rows), self.files, self.count)
        self.count += 1
        self._bound()
        return begun

    def _bring(self, path: bytes, rows: list[Row]) -> None:
        """Read the folders that stand in another place than they did, all of one folder together."""
        unread = [row for row in rows if row[0] in FOLDERS and row[2] not in self.known]
        self._load({tree for _, name, tree in unread if self._known_of(path + name + b"/", tree) is None})

    def _close(self, folder: _Open) -> None:
        if (shown := _shown(folder.path)) is not None:
            counts = self.files - folder.files, self.count - folder.folders
            self.folders[shown] = Folder(folder.tree.hex(), *counts)

    def _as_it_was(self, path: bytes, tree: bytes) -> Leaf | None:
        if (known := self._known_of(path, tree)) is None:
            return None
        self.kept.append(path.decode())
        self.files += known.files
        self.count += known.folders
        self._bound()
        return Leaf(path, b"40000", known.tree)

    def _known_of(self, path: bytes, tree: bytes) -> Folder | None:
        shown = _shown(path)
        known = None if shown is None else self.earlier.get(shown)
        return known if known is not None and known.tree == tree.hex() else None

    def _bound(self) -> None:
        if self.files > self.limits.entries:
            raise _too_large("too many files")
        if self.count > self.limits.entries:
            raise _too_large("too many folders")

    def _load(self, level: set[bytes], was: AbstractSet[bytes] = frozenset()) -> None:
        """Read folders with all below them, but for those that were somewhere in the earlier commit."""
        depth = 0
        while level:
            if depth > self.limits.depth + 1:
                raise _too_large("paths that are too long or too deep")
            below: set[bytes] = set()
            for object_id in self._fetch(sorted(level)):
                below.update(row[2] for row in self._rows(object_id) if row[0] in FOLDERS)
            # not `below - self.known.keys()`, which goes through all that is known
            level, depth = {one for one in below if one not in self.known and one not in was}, depth + 1

    def _fetch(self, level: list[bytes]) -> list[bytes]:
        """Read folders of one level, sizes first."""
        headers = self._headers([object_id.hex() for object_id in level])
        for object_id, content in self.objects.read(headers):
            if not isinstance(content, bytes):
                raise damaged("a folder of the commit is not what its id says")
            self.known[bytes.fromhex(object_id)] = content
        return level

    def _look(self) -> None:
        """Note the folders that were kept, and ask for those that were not read."""
        if not self.kept:
            return
        below = Below(self.earlier)
        kept = dict(chain.from_iterable(map(below.of, self.kept)))
        self.folders.update(kept)
        if unread := {folder.tree for folder in kept.values()} - {tree.hex() for tree in self.known}:
            self._headers(sorted(unread))

    def _headers(self, ids: list[str]) -> list[Header]:
        """What git says of folders, within the bounds."""
        headers = self.objects.headers(ids)
        if len(headers) < len(ids) or any(header.kind != "tree" for header in headers.values()):
            raise damaged("a folder of the commit is missing")
        self._check(list(headers.values()))
        return list(headers.values())

    def _check(self, headers: list[Header]) -> None:
        self.total += sum(header.size for header in headers)
        if self.total > self.limits.trees_bytes or max(header.size for header in headers) > self.limits.tree_bytes:
            raise _too_large("folders that are too large")
        if len(self.known) + len(headers) > self.limits.entries:
            raise _too_large("too many folders")

    def _rows(self, object_id: bytes) -> list[Row]:
        content = self.known[object_id]
        rows: list[Row] = ROW[len(object_id)].findall(content)
        if sum(len(mode) + len(name) for mode, name, _ in rows) + len(rows) * (len(object_id) + 2) != len(content):
            raise damaged("a folder of the commit cannot be read")
        if len({name for _, name, _ in rows}) < len(rows):
            raise damaged("a folder of the commit has two entries of one name")
        return rows


def _shown(path: bytes) -> str | None:
    """A path as text; None where another path may be shown alike."""
    shown = path.decode("utf-8", "replace")
    return None if "\ufffd" in shown else shown


def _too_large(what: str) -> InventoryError:
    return InventoryError("repository_too_large", f"The repository has {what}.")
