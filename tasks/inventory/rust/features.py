"""Which Cargo features are on: by default, because another manifest asks for them, or because a command names them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.inventory.model import Facts
from tasks.inventory.project import Project
from tasks.inventory.rust.conditions import Switches

#: files with the commands by which a repository is tested
NAMES: Final = frozenset({"Makefile", "GNUmakefile", "justfile", "Justfile", ".gitlab-ci.yml", "Makefile.toml"})
WORKFLOWS: Final = ".github/workflows/"
FOLDERS: Final = frozenset({"ci", ".ci", "scripts"})
#: lines that start another task than tests
ELSEWHERE: Final = re.compile(r"\b(?:clippy|doc|rustdoc|check|build|publish|install|deny|udeps)\b")
TESTING: Final = re.compile(r"\b(?:test|nextest|hack|tarpaulin|llvm-cov|miri)\b")
ALL: Final = re.compile(r"--(?:all-features|each-feature|feature-powerset)\b")
NAMED: Final = re.compile(r"""(?P<option>--features|\s-F)(?:[ =]|["']?\s*+,\s*+)(?:["'\\]++([^"'\\\n]*+)|(\S++))""")
#: a list of features as it stands; anything else is computed
LISTED: Final = re.compile(r"[\w./ ,-]+")
LONGEST: Final = 2_000


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file of commands: {"data": {"all", "named", "bare"}}; bare: a command leaves the defaults off."""
    named: set[str] = set()
    everything = bare = False
    for line in source.decode(errors="replace").splitlines():
        given = line[:LONGEST]
        if given.lstrip().startswith("#") or (ELSEWHERE.search(given) and not TESTING.search(given)):
            continue
        bare = bare or "--no-default-features" in given
        everything = everything or ALL.search(given) is not None
        for option, *values in NAMED.findall(given):
            if option != "--features" and "cargo" not in given:
                continue
            listed = "".join(values)
            everything = everything or not LISTED.fullmatch(listed)
            named |= set(re.split(r"[\s,]+", listed))
    return {"data": {"all": everything, "named": sorted(named - {""}), "bare": bare}}


def is_command_file(path: str) -> bool:
    """Whether a file may hold the commands that test a repository."""
    *folders, name = path.split("/")
    if name.endswith((".yml", ".yaml")):
        return path.startswith(WORKFLOWS) or name in NAMES
    return name in NAMES or (name.endswith(".sh") and folders[:1] != [] and folders[0] in FOLDERS)


@dataclass(slots=True)
class Features:
    """Features of a repository.  asked: package -> those other manifests want of it; None in commands: any."""

    manifests: Mapping[str, Mapping[str, Any]]
    commands: frozenset[str] | None
    bare: bool
    asked: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, manifests: Mapping[str, Mapping[str, Any]]) -> "Features":
        """Read the commands, and what manifests want of each other."""
        told = [project.data(path) or {} for path in project.configs if is_command_file(path)]
        named = frozenset(word for one in told for word in one.get("named", ()))
        features = cls(manifests, None if any(one.get("all") for one in told) else named, any(map(_bare, told)))
        for manifest in manifests.values():
            for name, wanted in features.wants(manifest):
                features.asked.setdefault(name, set()).add(wanted)
        return features

    def wants(self, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Features that a manifest may turn on elsewhere: (package, feature)."""
        names = manifest.get("renamed") or {}
        for name, wanted in manifest.get("asks") or ():
            yield from ((name, one) for one in wanted)
        for values in (manifest.get("features") or {}).values():
            for value in values:
                dependency, slash, one = value.partition("/")
                if slash:
                    dependency = dependency.removesuffix("?")
                    yield names.get(dependency, dependency), one

    def switches(self, folder: str) -> Switches:
        """Those of the package in a folder."""
        manifest = self.manifests.get(folder) or {}
        table = manifest.get("features")
        if self.commands is None or table is None:
            return Switches(possible=None, given=() if self.bare else closure(table or {}, ["default"]))
        name = (manifest.get("package") or {}).get("name", "")
        prefix = f"{name}/"
        wanted = {"default", *self.asked.get(name, ()), *(one.removeprefix(prefix) for one in self.commands)}
        return Switches(closure(table, wanted), () if self.bare else closure(table, ["default"]))


def _bare(told: Mapping[str, Any]) -> bool:
    return bool(told.get("bare"))


def closure(table: Mapping[str, list[str]], names: Iterable[str]) -> frozenset[str]:
    """Features that some features turn on, themselves among them; an optional dependency is one of its own name."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            for value in table.get(name, ()):
                dependency, slash, _ = value.partition("/")
                todo += [] if value.startswith("dep:") or dependency.endswith("?") else [dependency if slash else value]
    return frozenset(found)
