"""The view of one repository that PHPUnit and Pest share: candidates, and the files that classes come from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, cast

from testlist.kit.fold import folded
from testlist.kit.rows import Placed, row
from testlist.kit.scope import Growing
from testlist.languages.php.config import NAMES, Configurations
from testlist.languages.php.resolve_classes import Classes, Found, loaded
from testlist.model import FactsByPath, Test
from testlist.project import Project, folder_of

#: files of one name that are looked at
MANY: Final = 500


class Hit(NamedTuple):
    """A test of one class.  depends: whether a requirement decides if it runs there."""

    found: Found
    status: str
    depends: bool


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
        """As `needs`, for what has been read."""
        known = self.classes.learn(facts)
        names = {name for name in known.mentioned if name.lower() not in known.named}
        return {path for name in names for path in self.places(name)} - facts.keys()

    def places(self, name: str) -> list[str]:
        """Files called like a class whose folders are called most like its namespace."""
        if name not in self.placed:
            self.placed[name] = self.likely(name)
        return self.placed[name]

    def likely(self, name: str) -> list[str]:
        """As `places`, which is asked in every round."""
        *namespace, last = name.lower().split("\\")
        paths = self.stems.get(last, [])[:MANY]
        likeness = {path: alike(folder_of(path).lower().split("/"), namespace) for path in paths}
        best = max(likeness.values(), default=0)
        return [path for path in paths if likeness[path] == best]

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
        """PHPUnit's rows: what several classes share is one definition."""
        hits = self.hits(owned, facts, self.classes.learn(facts))
        return map(
            folded_row, folded(hits, lambda hit: (hit.found.path, hit.found.item["line"], hit.found.item["column"]))
        )

    def hits(self, owned: Sequence[str], facts: FactsByPath, classes: Classes) -> Iterator[Hit]:
        """Test methods of every class that ends in a case."""
        for path in owned:
            self.project.beat()
            for item in loaded(path, facts[path].get("classes", [])):
                order = classes.order(Found(path, item))
                off = next((one.item["off"] for one in order if "off" in one.item), "active")
                depends = any("when" in one.item for one in order)
                for found in classes.methods(order) if classes.is_case(order) else ():
                    yield Hit(found, found.item.get("first", off), depends or "when" in found.item)


def folded_row(hits: list[Hit]) -> Test:
    """One definition; it is off only if it is in every class that has it."""
    found = hits[0].found
    item: dict[str, Any] = found.item
    status = "active" if any(hit.status == "active" for hit in hits) else hits[0].status
    return row(
        "phpunit",
        found.path,
        (found.owner,),
        item["name"],
        cast(Placed, item),
        status=status,
        dynamic="data" in item,
        cases=item.get("cases"),
        depends=all(hit.depends for hit in hits if hit.status == status),
    )


def alike(folders: list[str], namespace: list[str]) -> int:
    """How many of the last folders are called like the last parts of a namespace."""
    pairs = list(zip(reversed(folders), reversed(namespace), strict=False))
    return next((number for number, (left, right) in enumerate(pairs) if left != right), len(pairs))


def config_language(path: str) -> str | None:
    """phpunit.xml in its three spellings, and composer.json."""
    name = path.rpartition("/")[2]
    return "phpunit.xml" if name in NAMES else "json" if name == "composer.json" else None
