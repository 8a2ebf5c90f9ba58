"""What decorators and pytestmark say about a test: its status and whether it is parametrised."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tasks.inventory.python.names import Found, Item, Names

SKIPS: Final = frozenset({"skip", "skipif", "skipIf", "skipUnless", "skipUnlessDBFeature", "skipIfDBFeature"})
FAILS: Final = frozenset({"xfail", "expectedFailure"})
FIXTURES: Final = frozenset({"fixture", "yield_fixture"})
#: decorators after which a name in a class body no longer is a function
NO_FUNCTION: Final = frozenset({"property", "cached_property"})


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks that reach one test.  cases: product of the listed parameter sets; 0 means some are not listed."""

    skipped: bool = False
    xfail: bool = False
    dynamic: bool = False
    cases: int = 1

    def __or__(self, other: "Marks") -> "Marks":
        return Marks(
            self.skipped or other.skipped,
            self.xfail or other.xfail,
            self.dynamic or other.dynamic,
            self.cases * other.cases,
        )

    @property
    def status(self) -> str:
        """One word; a test that is skipped cannot fail as expected."""
        return "skipped" if self.skipped else "xfail" if self.xfail else "active"


def read(names: Names, path: str, marks: Iterable[list[object]]) -> Marks:
    """Sum up marks written in a file."""
    total = Marks()
    for dotted, cases in marks:
        word = last_word(names, path, str(dotted))
        if word == "parametrize":
            total |= Marks(dynamic=True, cases=cases if isinstance(cases, int) else 0)
        else:
            total |= Marks(skipped=word in SKIPS, xfail=word in FAILS)
    return total


def last_word(names: Names, path: str, dotted: str) -> str:
    """Last segment of what a decorator means; one built on another inside the repository is seen through."""
    meaning = names.meaning(path, dotted)
    if isinstance(meaning, Found):
        returned = meaning.item.get("returns", [])
        inner = [names.meaning(meaning.path, mark[0]) for mark in returned]
        words = [word.rpartition(".")[2] for word in inner if isinstance(word, str)]
        return next((word for word in words if word in SKIPS | FAILS), "")
    return meaning.rpartition(".")[2]


def own(names: Names, path: str, item: Item) -> Marks:
    """Marks of one def or class: its decorators and, for a class, its pytestmark."""
    return read(names, path, item.get("marks", [])) | module(names, path, item.get("body", []))


def module(names: Names, path: str, body: Iterable[Item]) -> Marks:
    """Marks that a module or class body puts on all of its tests."""
    total = Marks()
    for item in body:
        if item["k"] == "skip" and not item.get("maybe"):
            total |= Marks(skipped=True)
        elif item["k"] == "set" and item["name"] == "pytestmark":
            total |= read(names, path, item["values"])
    return total


def is_fixture(item: Item) -> bool:
    """Whether a def is no function that could be a test."""
    words = {str(mark[0]).rpartition(".")[2] for mark in item.get("marks", [])}
    return bool(words & (FIXTURES | NO_FUNCTION))
