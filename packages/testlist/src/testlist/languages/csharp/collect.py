"""Tests of the classes of a repository, each at the method that defines it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from testlist.kit import rows
from testlist.languages.csharp.resolve_attributes import DEPENDS, ROWS, SOURCES, Meaning, Meanings
from testlist.languages.csharp.resolve_tunit import INHERITS
from testlist.languages.csharp.resolve_types import Type
from testlist.languages.csharp.shape import MethodFact
from testlist.model import Test

#: switches of a test's attribute under which it does not run, unless the others make that depend on something
OFF: Final = frozenset({"Skip", "Ignore", "IgnoreReason", "Explicit"})
IGNORED: Final = frozenset({"Ignore", "Explicit"})
FIXTURES: Final = frozenset({"TestFixture", "TestFixtureSource"})


@dataclass(frozen=True, slots=True)
class Hit:
    """One test of one class.  owner: the type that defines it."""

    path: str
    owner: Type
    item: MethodFact
    framework: str
    skipped: bool
    marks: tuple[Meaning, ...]
    depends: bool = False

    @property
    def place(self) -> tuple[str, int, int, str]:
        """The definition's identity."""
        return self.path, self.item["line"], self.item["column"], self.framework


@dataclass(slots=True)
class Collector:
    """Reads classes.

    internals: folders of projects whose internal classes MSTest runs.  read: by method, for many may inherit one.
    """

    meanings: Meanings
    internals: frozenset[str | None]
    read: dict[tuple[str, int], Hit | None] = field(default_factory=dict)

    def hits(self, one: Type) -> Iterator[Hit]:
        """Tests that a run of this class would have; none for one that cannot be made."""
        if one.has("abstract"):
            return
        order = self.meanings.types.order(one)
        marks = [self.meanings.read(*attribute) for attribute in one.attributes()]
        off = any(mark.word in IGNORED or mark.on & OFF for mark in marks)
        depends = any(mark.depends for mark in marks) or all("when" in part for _, part in one.parts)
        for owner in order:
            for path, item in owner.methods():
                key = (path, id(item))  # files alike share their facts
                if key not in self.read:
                    self.read[key] = self.hit(path, owner, item)
                hit = self.read[key]
                if hit is not None and self.runs(one, hit, marks, order):
                    skips, given = hit.skipped or off, hit.depends or depends
                    yield Hit(path, owner, item, hit.framework, skips, hit.marks, given)

    def hit(self, path: str, owner: Type, item: MethodFact) -> Hit | None:
        """Read one method; None for one that is no test."""
        marks = tuple(self.meanings.read(path, name, switches) for name, switches in item["attrs"])
        making = [mark.of for mark in marks if mark.of]
        # where a file is compiled for two frameworks, what all attributes of a method have in common decides
        shared = [one for one in making[0] if all(one in of for of in making)] if making else []
        framework = next(iter(shared or (making[0] if making else ())), None)
        depends = "when" in item or any(mark.depends for mark in marks)
        return Hit(path, owner, item, framework, skipped(item, marks), marks, depends) if framework else None

    def runs(self, one: Type, hit: Hit, marks: list[Meaning], order: list[Type]) -> bool:
        """Whether a framework makes an object of a class, and runs there what it defines or inherits."""
        if hit.framework == "tunit":
            return hit.owner is one or any(mark.word == INHERITS for mark in marks)
        if hit.framework == "xunit":
            return not one.hidden
        if hit.framework == "mstest":
            visible = not one.hidden or self.meanings.projects.folder(one.path) in self.internals
            return visible and any(mark.word == "TestClass" for mark in marks)
        if not one.arity:
            return True
        return any(
            self.meanings.read(*attribute).word in FIXTURES for ancestor in order for attribute in ancestor.attributes()
        )


def skipped(item: MethodFact, marks: tuple[Meaning, ...]) -> bool:
    """Whether a method's own attributes, all of its rows or its first statement keep it from running."""
    given = [mark for mark in marks if mark.word in ROWS]
    if item.get("skip") or any(mark.word in IGNORED for mark in marks):
        return True
    if given and all(is_off(mark) for mark in given):
        return True
    return any(mark.of and mark.word not in ROWS and is_off(mark) for mark in marks)


def is_off(mark: Meaning) -> bool:
    """Whether an attribute switches its test off, whatever the circumstances."""
    return bool(mark.on & OFF) and not mark.on & DEPENDS


def row(hits: list[Hit]) -> Test:
    """One definition; it is skipped only if it is in every class that has it."""
    first = hits[0]
    cases = sum(mark.word in ROWS for mark in first.marks)
    running = [hit for hit in hits if not hit.skipped]
    return rows.row(
        first.framework,
        first.path,
        first.owner.suites,
        first.item["name"],
        first.item,
        status="active" if running else "skipped",
        dynamic=bool(cases) or "data" in first.item or any(mark.word in SOURCES for mark in first.marks),
        cases=cases or None,
        depends=all(hit.depends for hit in running),
    )
