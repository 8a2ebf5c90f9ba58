"""The repository around a folder."""

from pathlib import Path


def around(folder: Path) -> Path:
    """The folder itself, or the first above it, that is a repository or a work tree of one; the folder without any.

    Only looks at names: whether it can be read is seen when it is opened.
    """
    return next((one for one in (folder, *folder.parents) if _is_repository(one)), folder)


def _is_repository(folder: Path) -> bool:
    # a bare one has all three, which no folder of a work tree has by accident
    return (folder / ".git").exists() or all((folder / part).exists() for part in ("HEAD", "objects", "refs"))
