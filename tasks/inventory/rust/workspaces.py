"""Which packages of a repository cargo runs: members of a workspace, and packages that stand alone."""

from collections.abc import Mapping
from typing import Any

from tasks.inventory import globs
from tasks.inventory.project import folder_of, joined

Manifests = Mapping[str, Mapping[str, Any]]


def members(manifests: Manifests) -> dict[str, bool]:
    """Folder of every package -> whether cargo runs it."""
    needed = {joined(folder, path) for folder, manifest in manifests.items() for path in manifest.get("paths", [])}
    return {
        folder: folder in needed or runs(folder, manifests)
        for folder, manifest in manifests.items()
        if manifest.get("package")
    }


def runs(folder: str, manifests: Manifests) -> bool:
    """Whether a package is one's own workspace, or wanted by the workspace around it.

    cargo refuses a package that lies inside a workspace without being its member: these are inputs of tests.
    """
    if "workspace" in manifests[folder]:
        return True
    outer = folder
    while outer:
        outer = folder_of(outer)
        workspace = manifests.get(outer, {}).get("workspace")
        if workspace is not None:
            inside = folder[len(outer) + 1 :] if outer else folder
            if any(f"{inside}/".startswith(f"{one.rstrip('/')}/") for one in workspace["exclude"]):
                return True
            return any(globs.match(inside, one.rstrip("/")) for one in workspace["members"])
    return True
