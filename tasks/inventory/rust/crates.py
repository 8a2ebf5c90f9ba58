"""Which files cargo would build for a test run: those that manifests and modules lead to.

A file that nothing leads to, such as an input of a compile test, is never run.  What cannot be followed for
certain counts as reached.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tasks.inventory.model import Facts
from tasks.inventory.project import Project, folder_of, joined
from tasks.inventory.rust.modules import leads
from tasks.inventory.rust.targets import Files, roots
from tasks.inventory.rust.workspaces import members


@dataclass(slots=True)
class Crates:
    """Crates of one repository.  folders: of its packages, and whether cargo runs them."""

    facts: Mapping[str, Facts]
    files: Files
    folders: dict[str, bool]
    reached: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, project: Project, facts: Mapping[str, Facts]) -> "Crates":
        """Follow the modules of every crate that is tested."""
        manifests = {folder_of(path): project.data(path) or {} for path in project.named("Cargo.toml")}
        crates = cls(facts, Files.of(facts), members(manifests))
        for folder, runs in sorted(crates.folders.items()):
            if runs:
                project.beat()
                crates.follow(roots(folder, manifests[folder], crates.files), folder)
        return crates

    def follow(self, found: Iterator[str], package: str) -> None:
        """Reach what crate roots lead to."""
        todo = [(path, True) for path in found]
        while todo:
            path, is_root = todo.pop()
            if path in self.reached or path not in self.facts:
                continue
            self.reached.add(path)
            todo += [(one, False) for one in self.leads(path, package, is_root=is_root)]

    def leads(self, path: str, package: str, *, is_root: bool) -> Iterator[str]:
        """Files one file leads to."""
        if "skipped" in self.facts[path]:  # nobody knows where it leads
            if (folder := folder_of(path)) not in self.opened:
                self.opened.add(folder)
                yield from self.files.below(folder)
            return
        for one in leads(path, self.facts[path].get("items", []), is_root=is_root):
            if one.literal:
                for base in (one.folder, package):
                    place = joined(base, one.name)
                    yield from [place] if place in self.facts else self.files.within(place)
            else:
                place = joined(one.folder, one.name)
                yield from (f"{place}.rs", f"{place}/mod.rs")

    def runs(self, path: str) -> bool:
        """Whether tests in a file would be run."""
        folder = folder_of(path)
        while folder not in self.folders:
            if not folder:
                return True  # no package: another build tool's file
            folder = folder_of(folder)
        return path in self.reached
