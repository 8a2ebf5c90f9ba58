"""The files of a commit: its folders are read level by level and hashed, then walked in git's order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from testlist.errors import InventoryError
from testlist.git.commits import root_of
from testlist.git.containment import damaged
from testlist.git.objects import Header, Objects
from testlist.git.process import GitLimits

#: bytes of an id -> a row of a folder: mode, name, id
ROW: Final = {size: re.compile(rb"([0-7]{5,6}) ([^\0/]+)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)}
FOLDERS: Final = frozenset({b"40000", b"040000"})

Row = tuple[bytes, bytes, bytes]


class Leaf(NamedTuple):
    """What is no folder: a file, a symbolic link or another repository.  path, mode: as in git."""

    path: bytes
    mode: bytes
    object_id: str


@dataclass(slots=True)
class Trees:
    """Folders of one commit."""

    objects: Objects
    limits: GitLimits
    known: dict[bytes, bytes] = field(default_factory=dict)  # by binary id; folders of equal content are one
    total: int = 0  # bytes

    def leaves(self, commit: str) -> Iterator[Leaf]:
        """Yield what the commit holds, in git's order.  Raises: InventoryError."""
        root = bytes.fromhex(root_of(self.objects, commit))
        self._load(root)
        files, folders = 0, 1
        stack = [(b"", iter(self._rows(root)))]
        while stack:
            path, rows = stack[-1]
            for mode, name, object_id in rows:
                if len(path) + len(name) > self.limits.path_bytes or len(stack) > self.limits.depth + 1:
                    raise _too_large("paths that are too long or too deep")
                if mode in FOLDERS:
                    folders += 1
                    stack.append((path + name + b"/", iter(self._rows(object_id))))
                    break
                files += 1
                if max(files, folders) > self.limits.entries:
                    raise _too_large("too many files")
                yield Leaf(path + name, mode, object_id.hex())
            else:
                stack.pop()
            if folders > self.limits.entries:
                raise _too_large("too many folders")

    def _load(self, root: bytes) -> None:
        level, depth = {root}, 0
        while level:
            if depth > self.limits.depth + 1:
                raise _too_large("paths that are too long or too deep")
            below: set[bytes] = set()
            for object_id in self._fetch(sorted(level)):
                below.update(row[2] for row in self._rows(object_id) if row[0] in FOLDERS)
            level, depth = below - self.known.keys(), depth + 1

    def _fetch(self, level: list[bytes]) -> list[bytes]:
        """Read folders of one level, sizes first."""
        ids = [object_id.hex() for object_id in level]
        headers = self.objects.headers(ids)
        if len(headers) < len(ids) or any(header.kind != "tree" for header in headers.values()):
            raise damaged("a folder of the commit is missing")
        self._check(list(headers.values()))
        for object_id, content in self.objects.read(headers.values()):
            if not isinstance(content, bytes):
                raise damaged("a folder of the commit is not what its id says")
            self.known[bytes.fromhex(object_id)] = content
        return level

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
        return rows


def _too_large(what: str) -> InventoryError:
    return InventoryError("repository_too_large", f"The repository has {what}.")
