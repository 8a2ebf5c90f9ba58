"""Examples of what a visitor can submit."""

from __future__ import annotations

from pathlib import Path

from app import local_repositories
from app.settings import Settings

MOST_LOCAL = 5


def examples(settings: Settings) -> list[str]:
    """Addresses that this service can analyse: the first local repositories, and one of each common form."""
    root = settings.local_repos_root
    local = local_repositories.addresses(root, MOST_LOCAL) if root else []
    public = ["https://github.com/pallets/click", "psf/requests"] if "github.com" in settings.allowed_git_hosts else []
    return [*local, *public]


def folder_to_fill(settings: Settings) -> Path | None:
    """The folder for local repositories, unless another root was chosen; then None."""
    root, own = settings.local_repos_root, local_repositories.home_root(settings.home)
    return own if root == own else None
