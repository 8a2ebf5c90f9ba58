"""The Git repositories of a folder on this machine, as `local:NAME`."""

from __future__ import annotations

from pathlib import Path

from app.domain.repositories import parse_address
from app.errors import InvalidInput


def is_repository(path: Path) -> bool:
    """Whether a folder looks like a repository, with or without a work tree."""
    return (path / ".git").exists() or (path / "HEAD").is_file()


def addresses(root: Path, most: int) -> list[str]:
    """`local:NAME` of the first repositories below a root, by name; none if it cannot be read."""
    try:
        names = sorted(path.name for path in root.expanduser().iterdir() if is_repository(path))
    except OSError:
        return []
    return [address for name in names if _is_address(address := f"local:{name}")][:most]


def home_root(home: Path) -> Path:
    """The root of `fairlane up` if no other is given."""
    return home / "repositories"


def _is_address(text: str) -> bool:
    try:
        parse_address(text, ())
    except InvalidInput:  # for instance, a name with a space
        return False
    return True
