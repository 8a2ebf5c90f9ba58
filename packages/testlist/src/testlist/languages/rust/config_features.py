"""Which Cargo features are on: by default, because another manifest asks for them, or because a command names them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from testlist.languages.rust.facts_conditions import Switches


@dataclass(slots=True)
class Features:
    """Features of a repository.  asked: package -> those other manifests want of it; None in commands: any."""

    manifests: Mapping[str, Mapping[str, Any]]
    commands: frozenset[str] | None
    bare: bool
    flags: frozenset[str] | None = None
    wanted: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        command_files: Sequence[Mapping[str, Any]],
        manifests: Mapping[str, Mapping[str, Any]],
        flags: Collection[str],
    ) -> "Features":
        """Read what manifests want of each other.  command_files: what their commands say.  flags: of build scripts."""
        named = frozenset(word for one in command_files for word in one.get("named", ()))
        commands = None if any(one.get("all") for one in command_files) else named
        features = cls(manifests, commands, any(map(_bare, command_files)), None if "*" in flags else frozenset(flags))
        for manifest in manifests.values():
            for name, wanted in features.wants(manifest):
                features.wanted.setdefault(name, set()).add(wanted)
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
        """The features of the package in a folder."""
        manifest = self.manifests.get(folder) or {}
        table = manifest.get("features")
        if self.commands is None or table is None:
            return Switches(
                possible=None, given=() if self.bare else closure(table or {}, ["default"]), flags=self.flags
            )
        name = (manifest.get("package") or {}).get("name", "")
        prefix = f"{name}/"
        wanted = {"default", *self.wanted.get(name, ()), *(one.removeprefix(prefix) for one in self.commands)}
        return Switches(closure(table, wanted), () if self.bare else closure(table, ["default"]), self.flags)


def _bare(command: Mapping[str, Any]) -> bool:
    return bool(command.get("bare"))


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
