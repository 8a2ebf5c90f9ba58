"""Crates with `harness = false`: the compiler drops their `#[test]` functions, unless `test` is another macro there.

Such a macro is an attribute of the repository or of a crate from elsewhere, and hands functions to a harness of its
own.  One that is built on the compiler's changes nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from testlist.languages.rust.config_workspaces import Manifests
from testlist.languages.rust.facts_attributes import is_test
from testlist.languages.rust.facts_imports import TEST
from testlist.languages.rust.shape import ExternItem, Item, RustFacts, UseItem

#: crates whose `test` ends in the compiler's
STANDARD: Final = frozenset(
    {"core", "std", "alloc", "tokio", "async_std", "actix", "actix_rt", "actix_web", "ntex", "smol_potat", "test_log",
     "futures_test", "rstest", "googletest", "sqlx", "rocket", "tracing_test", "wasm_bindgen_test"}
)  # fmt: skip


@dataclass
class Shadows:
    """Macros called `test` in one repository.  package_of: folder of the package that a file lies in."""

    manifests: Manifests
    facts: Mapping[str, RustFacts]
    package_of: Callable[[str], str | None]

    def in_crate(self, root: str, package: str) -> bool:
        """Whether the root of a crate takes such a macro for all of its files, by `#[macro_use] extern crate`."""
        return any(
            item["k"] == "extern"
            and TEST in item.get("only", (TEST,))
            and self.gives(item["name"], TEST, package, item)
            for item in items(self.facts.get(root, {}))
        )

    def in_file(self, path: str, package: str) -> bool:
        """Whether a file imports such a macro, or has one of the repository before a function with its path."""
        return any(
            (item["k"] == "use" and self.gives(item["path"], item["of"], package, item))
            or (item["k"] == "fn" and any(self.is_own(one[0], package) for one in item["attrs"]))
            for item in items(self.facts.get(path, {}))
        )

    def is_own(self, attribute: str, package: str) -> bool:
        """Whether an attribute is written with the path of a macro of the repository."""
        source, _, name = attribute.rpartition("::")
        return bool(source) and is_test(name, ()) and self.has(source, name, package)

    def gives(self, path: str, name: str, package: str, item: UseItem | ExternItem) -> bool:
        """Whether a path leads to such a macro; one from elsewhere must be named."""
        head = path.partition("::")[0]
        needs = map(crate_name, self.manifests[package].get("needs") or ())
        if self.folder(head, package) is not None or head not in needs:
            return self.has(path, name, package)
        return head not in STANDARD and (item["k"] == "use" or "only" in item)

    def has(self, path: str, name: str, package: str, seen: set[tuple[str, str]] | None = None) -> bool:
        """Whether a crate of the repository writes an attribute of this name, or hands one on.

        seen: crates and names that were asked for; each is asked once, however many ways lead to it.
        """
        seen = set() if seen is None else seen
        head = path.partition("::")[0]
        folder = self.folder(head, package) or package  # what is no crate is a module
        if head in STANDARD or (folder, name) in seen:
            return False
        seen.add((folder, name))
        attributes, uses = self.exports.get(folder, (set(), []))
        return name in attributes or any(
            item["name"] == name and self.has(item["path"], item["of"], folder, seen) for item in uses
        )

    @cached_property
    def exports(self) -> dict[str, tuple[set[str], list[UseItem]]]:
        """Package -> attributes that it defines, and what it imports for others."""
        found: dict[str, tuple[set[str], list[UseItem]]] = {}
        for path in self.facts:
            folder = self.package_of(path)
            for item in items(self.facts[path]) if folder is not None else ():
                attributes, uses = found.setdefault(folder or "", (set(), []))
                if item["k"] == "fn" and any(one[0] == "proc_macro_attribute" for one in item["attrs"]):
                    attributes.add(item["name"])
                elif item["k"] == "use" and "public" in item:
                    uses.append(item)
        return found

    @cached_property
    def folders(self) -> dict[str, str]:
        """Name of a crate -> folder of its package."""
        return {
            crate_name((manifest.get("lib") or {}).get("name") or manifest["package"].get("name", "")): folder
            for folder, manifest in self.manifests.items()
            if manifest.get("package")
        }

    def folder(self, crate: str, package: str) -> str | None:
        """Where a crate lies, by the name that a package has for it."""
        renamed = self.manifests.get(package, {}).get("renamed") or {}
        names = {crate_name(key): crate_name(name) for key, name in renamed.items()}
        return self.folders.get(names.get(crate, crate))


def items(facts: RustFacts) -> Iterator[Item]:
    """Items of a file, also those in inline modules."""
    yield from _inner(facts.get("items", []))


def _inner(found: Sequence[Item]) -> Iterator[Item]:
    for item in found:
        yield item
        if item["k"] == "mod":
            yield from _inner(item["items"])


def crate_name(package: str) -> str:
    """What code calls a package."""
    return package.replace("-", "_")
