"""Suites across the files of a repository: which types are run, and whose methods that makes tests."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tasks.inventory.model import Facts, FactsByPath
from tasks.inventory.project import folder_of

Fact = dict[str, Any]


class Type(NamedTuple):
    """A type of the repository; a folder holds one package, its external tests aside."""

    folder: str
    name: str


@dataclass(slots=True)
class Suites:
    """All suites of what has been read.  folders: every folder of the commit."""

    folders: frozenset[str]
    embeds: dict[Type, list[Type]] = field(default_factory=lambda: defaultdict(list))
    foreign: dict[str, set[Type]] = field(default_factory=lambda: defaultdict(set))
    makers: dict[Type, str] = field(default_factory=dict)
    asked: set[Type] = field(default_factory=set)
    met: set[Type] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)  # folders that run something that does not show

    @classmethod
    def of(cls, facts: FactsByPath, folders: frozenset[str]) -> "Suites":
        """Learn from every file."""
        found = cls(folders)
        for path, one in facts.items():
            if path.endswith(".go"):
                found.learn(folder_of(path), one)
        return found

    def learn(self, folder: str, facts: Facts) -> None:
        """Take what one file says."""
        self.met |= {Type(folder, method["type"]) for method in facts.get("methods", ())}
        for name, embedded in facts.get("structs", {}).items():
            for written in embedded:
                target = self.named(folder, written, facts)
                if target is not None:
                    self.embeds[Type(folder, name)].append(target)
                elif written.endswith(".Suite"):
                    self.foreign[folder].add(Type(folder, name))
        for function, made in facts.get("makers", {}).items():
            self.makers[Type(folder, function)] = made
        for written in facts.get("runs", ()):
            target = self.named(folder, written, facts)
            if target is not None:
                self.asked.add(target)
            else:
                self.unknown.add(folder)

    def named(self, folder: str, written: str, facts: Facts) -> Type | None:
        """The type a name means in a file; None outside the repository."""
        package, dot, name = written.rpartition(".")
        if not dot:
            return Type(folder, written) if written != "?" else None
        place = self.locate(facts.get("imports", {}).get(package, ""))
        return Type(place, name) if place is not None else None

    def locate(self, path: str) -> str | None:
        """Folder of an import: the longest end of its path that is one."""
        parts = path.split("/") if path else []
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        return next((end for end in ends if end in self.folders), None)

    def run(self) -> set[Type]:
        """Types that are run, and those they embed, whose methods are theirs."""
        todo = [self.made(one) for one in self.asked]
        todo += [one for folder in self.unknown for one in self.suites_in(folder)]
        seen = set(todo)
        while todo:
            for embedded in self.embeds.get(todo.pop(), ()):
                if embedded not in seen:
                    seen.add(embedded)
                    todo.append(embedded)
        return seen

    def made(self, one: Type) -> Type:
        """The type a function returns, for what is written `name()`."""
        name = one.name.removesuffix("()")
        return one if name == one.name else Type(one.folder, self.makers.get(Type(one.folder, name), ""))

    def suites_in(self, folder: str) -> Iterator[Type]:
        """Types of a folder that are suites by what they embed, one step away."""
        base = self.foreign.get(folder, set())
        yield from base
        for one, embedded in self.embeds.items():
            if one.folder == folder and any(target in self.foreign.get(target.folder, ()) for target in embedded):
                yield one

    def needed(self, paths: Iterable[str]) -> set[str]:
        """Sources of the packages of types that are run but have not been met yet."""
        folders = {one.folder for one in self.run() - self.met}
        return {path for path in paths if path.endswith(".go") and folder_of(path) in folders}


def is_test(method: Fact, gocheck: list[str]) -> bool:
    """Whether a suite would run a method: no parameters with testify, one of its own kind with gocheck."""
    parameters = method["parameters"]
    if method["result"] or method["kind"] not in ("Test", "Benchmark"):
        return False
    if not parameters:
        return bool(method["kind"] == "Test")
    return len(parameters) == 1 and parameters[0] in {"*C" if name == "." else f"*{name}.C" for name in gocheck}
