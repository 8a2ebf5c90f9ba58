"""Directories of our own that never outlive their use, even when the process that made them is killed."""

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

PREFIX = "fairlane-git-"


@contextlib.contextmanager
def directory(workdir: Path) -> Iterator[Path]:
    """Make an empty directory below workdir and remove it on every way out.

    Beside it stands a lock file, held while the directory is in use.  A killed owner cannot remove
    anything, but its lock falls, and the next use of the same workdir removes what it left.
    """
    workdir.mkdir(parents=True, exist_ok=True)
    sweep(workdir)
    lock, path = _claim(workdir)
    try:
        path.mkdir(mode=0o700)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        path.with_suffix(".lock").unlink(missing_ok=True)
        os.close(lock)


def sweep(workdir: Path) -> int:
    """Remove directories whose owner is gone; returns how many."""
    removed = 0
    for lock in workdir.glob(f"{PREFIX}*.lock"):
        try:
            held = os.open(lock, os.O_RDWR)
        except OSError:  # its owner has just finished
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
            removed += 1
        except OSError:  # in use
            pass
        finally:
            os.close(held)
    return removed


def _claim(workdir: Path) -> tuple[int, Path]:
    while True:
        path = workdir / f"{PREFIX}{secrets.token_hex(8)}"
        lock = path.with_suffix(".lock")
        held = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if lock.exists():
                return held, path
        except OSError:
            pass
        os.close(held)  # a sweep came between making the file and locking it: take another name
