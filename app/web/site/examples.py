"""Examples of what a visitor can submit."""

from __future__ import annotations

from pathlib import Path

from app import local_repositories
from app.settings import Settings

#: Of local repositories: that are named as examples, and that are offered at all.
MOST_LOCAL, MOST_OFFERED = 5, 1000


def examples(settings: Settings) -> list[str]:
    """Addresses that this service can analyse: the first local repositories, and one of each common form."""
    root = settings.local_repos_root
    local = local_repositories.addresses(root, MOST_LOCAL) if root else []
    public = ["https://github.com/pallets/click", "psf/requests"] if "github.com" in settings.allowed_git_hosts else []
    return [*local, *public]


def further_local(settings: Settings) -> list[str]:
    """Addresses of the local repositories that are not among the examples."""
    root = settings.local_repos_root
    return local_repositories.addresses(root, MOST_OFFERED)[MOST_LOCAL:] if root else []


def folder_to_fill(settings: Settings) -> Path | None:
    """The folder for local repositories, unless another root was chosen; then None."""
    root, own = settings.local_repos_root, local_repositories.home_root(settings.home)
    return own if root == own else None
