"""Objects as files of a folder."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.domain.objects import ObjectsAwayError

#: Seconds after which a file that was not finished is no longer being written: its process died.
LEFT_SECONDS = 24 * 60 * 60


class ObjectFolder:
    """Files that only our own user may open.  The folder has to be there: it may be a disk that is away."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unfinished = folder / "unfinished"

    def put(self, name: str, content: bytes) -> None:
        """Write a file beside, and move it to its place once it is on the disk."""
        path, aside = self._folder / name, self._unfinished / secrets.token_hex(16)
        with _answering():
            for folder in (path.parent, self._unfinished):
                folder.mkdir(mode=0o700, exist_ok=True)
            try:
                with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                aside.replace(path)
            except BaseException:
                with suppress(OSError):
                    aside.unlink()
                raise
            _sync(path.parent)

    def get(self, name: str) -> bytes | None:
        """Read a file."""
        with _answering():
            try:
                return (self._folder / name).read_bytes()
            except FileNotFoundError:
                if not self._folder.is_dir():
                    raise
                return None

    def delete(self, names: Collection[str]) -> None:
        """Delete files, and those that dead processes did not finish."""
        with _answering():
            for name in names:
                (self._folder / name).unlink(missing_ok=True)
            for left in self._unfinished.glob("*"):
                with suppress(FileNotFoundError):
                    if left.stat().st_mtime < time.time() - LEFT_SECONDS:
                        left.unlink()


def _sync(folder: Path) -> None:
    """Keep a new name over a power failure: the row that refers to it is kept."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ObjectsAwayError(f"{type(error).__name__}: {error.strerror}") from error
