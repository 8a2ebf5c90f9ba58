"""What somebody may try at once."""

from __future__ import annotations

from pathlib import Path

from app.settings import Settings

MOST_LOCAL = 5


def examples(settings: Settings) -> list[str]:
    """Addresses this service can analyse: the first local repositories, and one of each common form."""
    local = _local(settings.local_repos_root) if settings.local_repos_root else []
    public = ["https://github.com/pallets/click", "psf/requests"] if "github.com" in settings.allowed_git_hosts else []
    return [*local, *public]


def _local(root: Path) -> list[str]:
    try:
        names = sorted(path.name for path in root.expanduser().iterdir() if _is_repository(path))
    except OSError:
        return []
    return [f"local:{name}" for name in names[:MOST_LOCAL]]


def _is_repository(path: Path) -> bool:
    return (path / ".git").exists() or (path / "HEAD").is_file()
