"""Crate roots of one package that `cargo test` runs, with the standard harness or one of their own."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from testlist.languages.rust.facts_conditions import Switches
from testlist.project import folder_of, joined

#: kind of target -> (its folder, the key that switches discovery off, whether it is tested unless it says so)
KINDS: Final = {
    "bin": ("src/bin", "autobins", True),
    "test": ("tests", "autotests", True),
    "bench": ("benches", "autobenches", False),
    "example": ("examples", "autoexamples", False),
}


class Root(NamedTuple):
    """First file of a crate.  standard: the compiler's harness runs its tests."""

    path: str
    standard: bool = True


@dataclass(slots=True)
class Files:
    """Rust files by folder.  inner: folder -> folders directly in it."""

    paths: Collection[str]
    folders: dict[str, list[str]] = field(default_factory=dict)
    inner: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Collection[str]) -> "Files":
        """Sort paths into folders."""
        files = cls(paths)
        for path in sorted(paths):
            folder = folder_of(path)
            while folder not in files.folders:
                files.folders[folder] = []
                if not folder:
                    break
                files.inner.setdefault(folder_of(folder), []).append(folder)
                folder = folder_of(folder)
            files.folders[folder_of(path)].append(path)
        return files

    def within(self, folder: str) -> Sequence[str]:
        """Files directly in a folder."""
        return self.folders.get(folder, ())

    def below(self, folder: str) -> Iterator[str]:
        """Files in a folder at any depth."""
        todo = [folder]
        while todo:
            one = todo.pop()
            yield from self.within(one)
            todo += self.inner.get(one, ())


def roots(folder: str, manifest: Mapping[str, Any], files: Files, switches: Switches) -> Iterator[Root]:
    """Roots of the package in a folder; a target that requires a feature which is never on is left out."""
    lib, own = manifest.get("lib") or {}, package(manifest).get("name", "")
    if is_tested(lib, default=True):
        yield Root(joined(folder, lib.get("path", "src/lib.rs")), is_standard(lib))
    for kind, (place, switch, default) in KINDS.items():
        declared = manifest.get(kind) or []
        said = {path: target for target in declared for path in _paths(folder, place, target, own)}
        found = set(_discovered(folder, place, files, kind)) if package(manifest).get(switch, True) else set()
        for path in sorted(found | said.keys()):
            target = said.get(path, {})
            lacks = any(switches.has(one) is False for one in target.get("required-features", ()))
            if path in files.paths and is_tested(target, default=default) and not lacks:
                yield Root(path, is_standard(target))


def package(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `[package]` table."""
    found: Mapping[str, Any] = manifest.get("package") or {}
    return found


def is_tested(target: Mapping[str, Any], *, default: bool) -> bool:
    """Whether a target is built for a test run, as its own table has it."""
    return bool(target.get("test", default))


def is_standard(target: Mapping[str, Any]) -> bool:
    """Whether a target's own table leaves its tests to the standard harness."""
    return target.get("harness") is not False


def _paths(folder: str, place: str, target: Mapping[str, Any], package_name: str) -> list[str]:
    """Where a declared target may lie."""
    if "path" in target:
        return [joined(folder, target["path"])]
    name = target.get("name", "")
    usual = [joined(folder, f"{place}/{name}.rs"), joined(folder, f"{place}/{name}/main.rs")]
    return [*usual, joined(folder, "src/main.rs")] if place == "src/bin" and name == package_name else usual


def _discovered(folder: str, place: str, files: Files, kind: str) -> Iterator[str]:
    """Files cargo takes for targets by their place."""
    base = joined(folder, place)
    yield from files.within(base)
    for inner in files.inner.get(base, ()):
        yield from (path for path in files.within(inner) if path.endswith("/main.rs"))
    if kind == "bin":
        yield joined(folder, "src/main.rs")
