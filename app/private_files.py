"""Files that only our own user may open, and therefore only our own user may lock."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TextIO


def open_private(path: Path) -> TextIO:
    """Open a file to read and append, created if missing.  flock() needs no right but that to open a file."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if os.fstat(descriptor).st_mode & 0o077:  # of an earlier release
        os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "a+", encoding="utf-8")
