"""Where packages of a repository stand: by its modules, or as in a workspace of the time before them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from testlist.project import Project, below, endings, folder_of, joined

MANIFEST: Final = "go.mod"


@dataclass
class Packages:
    """The packages of one repository."""

    project: Project

    @cached_property
    def modules(self) -> list[tuple[str, str]]:
        """(path, folder) of every module, the longest path first."""
        named = ((self.project.data(path) or {}, path) for path in self.project.named(MANIFEST))
        found = ((data["module"], folder_of(path)) for data, path in named if "module" in data)
        return sorted(found, key=lambda pair: (-len(pair[0]), pair))

    def locate(self, path: str, folder: str) -> str | None:
        """Folder of an import.  folder: of the file that imports it."""
        for module, root in self.modules:
            if path == module or path.startswith(f"{module}/"):
                place = joined(root, path[len(module) :])
                return place if place in self.project.folders else None
        if not path or any(below(folder, root) for _, root in self.modules):
            return None
        return next((end for end in endings(path) if end in self.project.folders), None)
