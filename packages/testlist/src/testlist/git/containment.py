"""Paths and small files of a repository on this machine that must not lead out of a root folder."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from testlist.errors import InventoryError

#: files and folders looked at in one repository; honest ones are packed long before
ENTRIES: Final = 500_000
#: never waits, as a pipe in the place of a file would make it
FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG})


def outside() -> InventoryError:
    """The answer to whatever leads out of the root."""
    return InventoryError(
        "repository_outside_root", "A part of the repository lies outside of the folder of local repositories."
    )


def damaged(what: str) -> InventoryError:
    """The answer to a repository that cannot be read."""
    return InventoryError("repository_damaged", f"The repository is damaged: {what}.")


def resolved(path: Path, root: Path) -> Path | None:
    """Where a path really is; None if there is nothing.  root: resolved.

    Raises: InventoryError repository_outside_root, also where a link leads to nothing outside; repository_damaged.
    """
    try:
        real = Path(os.path.realpath(path, strict=True))
    except OSError as error:
        if not Path(os.path.realpath(path)).is_relative_to(root):
            raise outside() from error
        if error.errno in ABSENT:
            return None
        raise damaged("a link leads to itself, or a folder cannot be read") from error
    if not real.is_relative_to(root):
        raise outside()
    return real


def content(path: Path, root: Path, limit: int) -> bytes | None:
    """Read a regular file; None if there is none.  Raises: InventoryError, repository_too_large above the limit."""
    chunks = list(pieces(path, root, limit))
    return b"".join(chunks) if chunks else None


def pieces(path: Path, root: Path, limit: int) -> Iterator[bytes]:
    """The content in pieces of 1 MiB: none if there is no file, an empty one first if it is there."""
    if resolved(path, root) is None:
        return
    try:
        handle = os.open(path, FLAGS)
    except OSError as error:
        if error.errno in ABSENT:
            return
        raise damaged("a file cannot be read") from error
    with os.fdopen(handle, "rb", buffering=0) as file:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            return
        if not stat.S_ISREG(found.st_mode):
            raise damaged("it holds something that is neither a file nor a folder")
        # links may have been changed since they were looked at; where the open file is cannot be
        if not _place(handle, path).is_relative_to(root):
            raise outside()
        yield b""
        while chunk := file.read(1 << 20):
            limit -= len(chunk)
            if limit < 0:
                raise InventoryError("repository_too_large", "A file of the repository's own is larger than the limit.")
            yield chunk


def survey(folder: Path, root: Path, left: int = ENTRIES) -> int:
    """Check that everything below a folder is a file or folder and below the root; returns what is left of `left`.

    Raises: InventoryError repository_outside_root, repository_damaged, repository_too_large.
    """
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        raise InventoryError("repository_too_large", "The repository consists of too many files.")
                    if _is_folder(entry, root):
                        folders.append(Path(entry.path))
        except FileNotFoundError:  # git packs objects while we look, and removes their folders
            continue
        except OSError as error:
            raise damaged("a folder cannot be read") from error
    return left


def _is_folder(entry: "os.DirEntry[str]", root: Path) -> bool:
    """Whether to go on below it."""
    if entry.is_symlink():
        # a link to a folder is followed by git; `left` bounds a link that leads up again
        real = resolved(Path(entry.path), root)
        if real is None or real.is_file():
            return False
        if not real.is_dir():
            raise damaged("it holds something that is neither a file nor a folder")
        return True
    if entry.is_dir(follow_symlinks=False):
        return True
    if not entry.is_file(follow_symlinks=False):
        raise damaged("it holds something that is neither a file nor a folder")
    return False


def _place(handle: int, path: Path) -> Path:
    """Where an open file is."""
    try:
        return Path(os.readlink(f"/proc/self/fd/{handle}"))  # noqa: PTH115 - not a path of ours
    except OSError:  # elsewhere than on Linux
        return Path(os.path.realpath(path))
