"""The view of one repository that PHPUnit and Pest share: candidates, and the files that classes come from."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from testlist.kit.scope import Growing
from testlist.languages.php.config import NAMES, Configurations
from testlist.languages.php.resolve_classes import Classes
from testlist.model import FactsByPath
from testlist.project import Project, folder_of

#: files of one name that are looked at
MANY: Final = 500


@dataclass
class Resolver:
    """One repository."""

    project: Project
    configurations: Configurations
    wanted: dict[str, bool] = field(default_factory=dict)
    wanting: Growing[set[str]] = field(default_factory=lambda: Growing(set()))
    classes: Classes = field(default_factory=Classes)
    placed: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Read the configurations."""
        return cls(project, Configurations.of(project))

    def wants(self, path: str) -> bool:
        """Whether a run would load a file."""
        if path not in self.wanted:
            self.wanted[path] = self.configurations.wants(path)
        return self.wanted[path]

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """File name in lower case without its suffix -> paths."""
        found: dict[str, list[str]] = {}
        for path in self.project.blobs:
            if path.endswith(".php"):
                found.setdefault(path.rpartition("/")[2].removesuffix(".php").lower(), []).append(path)
        return found

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files of ancestors and traits that nothing read so far declares."""
        return self.wanting.of(facts, lambda: self.leads(facts))

    def leads(self, facts: FactsByPath) -> set[str]:
        """What is needed beyond what has been read."""
        known = self.classes.learn(facts)
        names = {name for name in known.mentioned if name.lower() not in known.named}
        return {path for name in names for path in self.places(name)} - facts.keys()

    def places(self, name: str) -> list[str]:
        """Files called like a class whose folders are called most like its namespace."""
        if name not in self.placed:
            self.placed[name] = self.likely(name)
        return self.placed[name]

    def likely(self, name: str) -> list[str]:
        """The likely places, asked for in every round."""
        *namespace, last = name.lower().split("\\")
        paths = self.stems.get(last, [])[:MANY]
        likeness = {path: alike(folder_of(path).lower().split("/"), namespace) for path in paths}
        best = max(likeness.values(), default=0)
        return [path for path in paths if likeness[path] == best]


def alike(folders: list[str], namespace: list[str]) -> int:
    """How many of the last folders are called like the last parts of a namespace."""
    pairs = list(zip(reversed(folders), reversed(namespace), strict=False))
    return next((number for number, (left, right) in enumerate(pairs) if left != right), len(pairs))


def config_language(path: str) -> str | None:
    """phpunit.xml in its three spellings, and composer.json."""
    name = path.rpartition("/")[2]
    return "phpunit.xml" if name in NAMES else "json" if name == "composer.json" else None
