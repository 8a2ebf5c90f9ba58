"""Which files cargo would build for a test run: those that manifests and modules lead to.

A file that nothing leads to, such as an input of a compile test, is never run.  What cannot be followed for
certain counts as reached.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from testlist.kit.commands import is_command_file
from testlist.languages.rust.config_features import Features
from testlist.languages.rust.config_targets import Files, Root, roots
from testlist.languages.rust.config_workspaces import members
from testlist.languages.rust.facts_conditions import Switches
from testlist.languages.rust.resolve_harness import Shadows
from testlist.languages.rust.resolve_macros import Macros
from testlist.languages.rust.resolve_modules import leads
from testlist.languages.rust.shape import RustFacts
from testlist.project import Project, folder_of, joined

#: files by which other tools build Rust
BUILDS: Final = ("BUILD", "BUILD.bazel", "BUCK", "TARGETS", "BUILD.gn", "Android.bp", "meson.build", "Kbuild",
                 "rust-project.json")  # fmt: skip


@dataclass(slots=True)
class Resolver:
    """Crates of one repository.  folders: of its packages, and whether cargo runs them."""

    facts: Mapping[str, RustFacts]
    files: Files
    folders: dict[str, bool]
    features: Features
    macros: Macros
    switches: dict[str, Switches] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    certain: set[str] = field(default_factory=set)  # reached whatever the conditions
    opened: set[str] = field(default_factory=set)
    paths: Collection[str] = frozenset()  # every file of the repository
    others: dict[str, bool] = field(default_factory=dict)  # folder -> whether another tool builds it

    @classmethod
    def of(cls, project: Project, facts: Mapping[str, RustFacts], macros: Macros) -> "Resolver":
        """Follow the modules of every crate that is tested."""
        manifests = {folder_of(path): project.data(path) or {} for path in project.named("Cargo.toml")}
        commands = [project.data(path) or {} for path in project.configs if is_command_file(path)]
        flags = {flag for one in facts.values() for flag in one.get("flags", ())}
        packages = members(manifests, {place for one in commands for place in one.get("places", ())})
        crates = cls(
            facts, Files.of(facts), packages, Features.of(commands, manifests, flags), macros, paths=project.paths
        )
        # of a manifest that could not be read nobody knows what it builds
        crates.others = {folder: True for folder, one in manifests.items() if not one.keys() & {"package", "workspace"}}
        shadows = Shadows(manifests, facts, crates.package_of)
        for folder, runs in sorted(crates.folders.items()):
            if runs:
                project.beat()
                for root in roots(folder, manifests[folder], crates.files, crates.switched(folder)):
                    crates.enter(root, folder, shadows)
        return crates

    def enter(self, root: Root, package: str, shadows: Shadows) -> None:
        """Reach one crate; with a harness of its own only files whose `test` is not the compiler's."""
        if root.standard or shadows.in_crate(root.path, package):
            self.follow(iter([root.path]), package)
            return
        alone = replace(self, reached=set(), certain=set(), opened=set())
        alone.follow(iter([root.path]), package)
        own = {path for path in alone.reached if shadows.in_file(path, package)}
        self.reached |= own
        self.certain |= own & alone.certain

    def follow(self, found: Iterator[str], package: str) -> None:
        """Reach what crate roots lead to."""
        switches = self.switched(package)
        todo = [(path, True, False) for path in found]
        while todo:
            path, is_root, when = todo.pop()
            when = when or "when" in self.facts.get(path, ())
            if path not in self.facts or path in (self.reached if when else self.certain):
                continue
            if "never" in self.facts[path] or switches.never(self.facts[path].get("features")):
                continue
            self.reached.add(path)
            self.certain |= set() if when else {path}
            todo += [(one, False, when or own) for one, own in self.leads(path, package, is_root=is_root)]

    def leads(self, path: str, package: str, *, is_root: bool) -> Iterator[tuple[str, bool]]:
        """Files one file leads to, each with whether it does so under a condition."""
        if "skipped" in self.facts[path]:  # nobody knows where it leads
            if (folder := folder_of(path)) not in self.opened:
                self.opened.add(folder)
                yield from ((one, False) for one in self.files.below(folder))
            return
        switches = self.switched(package)
        for one in leads(path, self.facts[path].get("items", []), self.macros, is_root=is_root):
            if any(map(switches.never, one.features)):
                continue
            if one.literal:
                for base in (one.folder, package):
                    place = joined(base, one.name)
                    places = [place] if place in self.facts else self.files.within(place)
                    yield from ((found, one.when) for found in places)
            else:
                place = joined(one.folder, one.name)
                yield from ((f"{place}.rs", one.when), (f"{place}/mod.rs", one.when))

    def depends(self, path: str) -> bool:
        """Whether a condition decides if a file is built."""
        return "when" in self.facts[path] or (path in self.reached and path not in self.certain)

    def switched(self, folder: str) -> Switches:
        """Features of the package in a folder."""
        if folder not in self.switches:
            self.switches[folder] = self.features.switches(folder)
        return self.switches[folder]

    def switches_of(self, path: str) -> Switches:
        """Features that a file is built with; any, for another build tool's file."""
        package = self.package_of(path)
        return Switches() if package is None else self.switched(package)

    def package_of(self, path: str) -> str | None:
        """Folder of the package a file lies in."""
        folder = folder_of(path)
        while folder not in self.folders:
            if not folder:
                return None
            folder = folder_of(folder)
        return folder

    def runs(self, path: str) -> bool:
        """Whether tests in a file would be run."""
        return self.tooled(folder_of(path)) if self.package_of(path) is None else path in self.reached

    def tooled(self, folder: str) -> bool:
        """Whether another tool builds a folder that is in no package; else it holds the input of some program."""
        if folder not in self.others:
            above_it = self.tooled(folder_of(folder)) if folder else False
            self.others[folder] = above_it or any(joined(folder, name) in self.paths for name in BUILDS)
        return self.others[folder]
