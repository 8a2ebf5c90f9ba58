"""Which packages of a repository cargo runs: members of a workspace, and packages that stand alone."""

from collections.abc import Collection, Mapping
from typing import Any

from testlist.kit import globs
from testlist.project import above, endings, joined

Manifests = Mapping[str, Mapping[str, Any]]


def members(manifests: Manifests, places: Collection[str]) -> dict[str, bool]:
    """Folder of every package -> whether cargo runs it.  places: folders that the repository's commands work in."""
    needed = {joined(folder, path) for folder, manifest in manifests.items() for path in manifest.get("paths", [])}
    return {
        folder: folder in needed or runs(folder, manifests, places)
        for folder, manifest in manifests.items()
        if manifest.get("package")
    }


def runs(folder: str, manifests: Manifests, places: Collection[str]) -> bool:
    """Whether a package is wanted by the workspace around it, or starts one that is run.

    cargo refuses a package that lies inside a workspace without being its member: these are inputs of tests.
    """
    root = root_of(folder, manifests)
    if root is None:
        return False
    return is_outermost(root, manifests) or bool({"*", *endings(folder), *endings(root)} & set(places))


def root_of(folder: str, manifests: Manifests) -> str | None:
    """Folder of the workspace a package belongs to, perhaps its own; None where cargo refuses it."""
    if "workspace" in manifests[folder]:
        return folder
    for outer in above(folder):
        workspace = manifests.get(outer, {}).get("workspace")
        if workspace is not None:
            inside = folder[len(outer) + 1 :] if outer else folder
            if any(f"{inside}/".startswith(f"{one.rstrip('/')}/") for one in workspace["exclude"]):
                return folder
            return outer if any(globs.match(inside, one.rstrip("/")) for one in workspace["members"]) else None
    return folder


def is_outermost(root: str, manifests: Manifests) -> bool:
    """Whether no other package or workspace lies around: one that does is what cargo is called for."""
    return not any(manifests.get(outer) for outer in above(root))
