"""Types across the files of a repository: parts of partial ones put together, and what a base's name stands for."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.hierarchy import ancestry
from testlist.languages.csharp.config_projects import DotnetProjects
from testlist.languages.csharp.shape import MethodFact, TypeFact, shape
from testlist.model import FactsByPath

#: more ancestors than any honest class has
DEPTH: Final = 40
#: types of one name that are looked at
MANY: Final = 64


@dataclass(slots=True, eq=False)
class Type:
    """One class, record or struct.  parts: (path, fact) of its declarations."""

    ns: str
    suites: tuple[str, ...]
    arity: int
    parts: list[tuple[str, TypeFact]] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Its first file."""
        return self.parts[0][0]

    @property
    def full(self) -> str:
        """Dotted name from the root."""
        return ".".join(filter(None, (self.ns, *self.suites)))

    def has(self, modifier: str) -> bool:
        """Whether one of its parts has a modifier."""
        return any(modifier in part["mods"] for _, part in self.parts)

    @property
    def hidden(self) -> bool:
        """Whether it or a type around it is not public."""
        return all(part.get("hidden", False) for _, part in self.parts)

    def attributes(self) -> Iterator[tuple[str, str, list[str]]]:
        """(path, dotted name, switches) of its attributes."""
        for path, part in self.parts:
            yield from ((path, name, switches) for name, switches in part["attrs"])

    def methods(self) -> Iterator[tuple[str, MethodFact]]:
        """(path, fact) of its methods that have attributes."""
        for path, part in self.parts:
            yield from ((path, method) for method in part["methods"])


@dataclass(slots=True)
class Types:
    """All types read so far.  full: dotted name and arity -> types; last: last name and arity -> types."""

    facts: FactsByPath
    full: dict[tuple[str, int], list[Type]] = field(default_factory=dict)
    last: dict[tuple[str, int], list[Type]] = field(default_factory=dict)
    orders: dict[int, list[Type]] = field(default_factory=dict)

    @classmethod
    def of(cls, facts: FactsByPath, projects: DotnetProjects) -> "Types":
        """Put the types of all files together."""
        table: dict[tuple[object, ...], Type] = {}
        for path in sorted(facts):
            for part in shape(facts[path]).get("types", ()) if path.endswith(".cs") else ():
                suites = (*part["outer"], part["name"])
                # types of one name in two projects are two types; so are two in one, unless they are parts
                home = projects.folder(path) if "partial" in part["mods"] or part["outer"] else path
                key = (part["ns"], suites, part["arity"], home)
                table.setdefault(key, Type(part["ns"], suites, part["arity"])).parts.append((path, part))
        whole = cls(facts)
        for one in table.values():
            whole.full.setdefault((one.full, one.arity), []).append(one)
            whole.last.setdefault((one.suites[-1], one.arity), []).append(one)
        return whole

    def all(self) -> Iterator[Type]:
        """Every type."""
        return (one for types in self.full.values() for one in types)

    def order(self, one: Type) -> list[Type]:
        """A type and its bases in the repository, nearest first."""
        if id(one) not in self.orders:
            self.orders[id(one)] = ancestry(one, self.bases, DEPTH)
        return self.orders[id(one)]

    def bases(self, one: Type) -> Iterator[Type]:
        """Direct bases in the repository."""
        for path, part in one.parts:
            for dotted, arity in part["bases"][:DEPTH]:
                if (found := self.find(dotted, arity, one, path)) is not None:
                    yield found

    def find(self, dotted: str, arity: int, seen_from: Type, path: str) -> Type | None:
        """Find the type a name stands for: around the place of use, by a using, or anywhere of that name."""
        facts = shape(self.facts[path])
        dotted = facts.get("aliases", {}).get(dotted, dotted)
        around = seen_from.full.split(".")[:DEPTH]
        homes = [".".join(around[:length]) for length in range(len(around), -1, -1)]
        for home in (*homes, *facts.get("usings", ())):
            if found := self.full.get((f"{home}.{dotted}" if home else dotted, arity)):
                return nearest(found, seen_from)
        ending = f".{dotted}"
        found = self.last.get((dotted.rpartition(".")[2], arity), [])[:MANY]
        return nearest([one for one in found if f".{one.full}".endswith(ending)], seen_from)


def nearest(types: list[Type], seen_from: Type) -> Type | None:
    """The one whose file shares the most folders with the place of use; never the place itself."""
    others = [one for one in types[:MANY] if one is not seen_from]
    return max(others, key=lambda one: _common(one.path, seen_from.path), default=None)


def _common(path: str, other: str) -> int:
    pairs = zip(path.split("/"), other.split("/"), strict=False)
    return next((number for number, (left, right) in enumerate(pairs) if left != right), 0)
