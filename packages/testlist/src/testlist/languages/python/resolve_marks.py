"""What decorators and pytestmark say about a test: its status and whether it is parametrised."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from testlist.languages.python.resolve_names import Names
from testlist.languages.python.shape import ClassItem, DefItem, Giving, Item, Mark, SetItem

#: what `skipping` says of a decorator that skips tests where they are defined, and not when they run
CHOOSES: Final = "chooses"
#: marks that skip under a condition
CONDITIONAL: Final = frozenset({"skipif", "skipIf", "skipUnless", "skipUnlessDBFeature", "skipIfDBFeature"})
SKIPS: Final = CONDITIONAL | {"skip"}
FAILS: Final = frozenset({"xfail", "expectedFailure"})
FIXTURES: Final = frozenset({"fixture", "yield_fixture"})
#: decorators after which a name in a class body no longer is a function
NO_FUNCTION: Final = frozenset({"property", "cached_property"})


class Marks(NamedTuple):
    """The marks that reach one test.  cases: product of the listed parameter sets; 0 means some are not listed.

    always: some mark skips whatever the conditions.  depends: a condition has a say in whether it runs.
    names: of pytest's marks.
    """

    skipped: bool = False
    xfail: bool = False
    dynamic: bool = False
    cases: int = 1
    always: bool = False
    depends: bool = False
    names: frozenset[str] = frozenset()

    def __or__(self, other: "Marks") -> "Marks":
        if self is NONE or other is NONE:  # nearly always one of them is
            return other if self is NONE else self
        return Marks(
            self.skipped or other.skipped,
            self.xfail or other.xfail,
            self.dynamic or other.dynamic,
            self.cases * other.cases,
            self.always or other.always,
            self.depends or other.depends,
            self.names | other.names,
        )

    @property
    def status(self) -> str:
        """One word; a test that is skipped cannot fail as expected."""
        return "skipped" if self.skipped else "xfail" if self.xfail else "active"


NONE: Final = Marks()


def read(names: Names, path: str, marks: Iterable[Mark]) -> Marks:
    """Sum up marks written in a file."""
    total = NONE
    for dotted, cases in marks:
        if (skips := skipping(names, path, dotted)) is not None:
            total |= Marks(skipped=skips == CHOOSES, depends=True)
            continue
        meant = meanings(names, path, dotted)
        word = last_word(meant)
        called = frozenset(one.rpartition(".")[2] for one in meant if ".mark." in f".{one}")
        if word == "parametrize":
            total |= Marks(dynamic=True, cases=cases or 0, names=called)
        elif called or word in SKIPS or word in FAILS:
            depends = word in CONDITIONAL
            total |= Marks(
                word in SKIPS, word in FAILS, always=word in SKIPS and not depends, depends=depends, names=called
            )
    return total


def skipping(names: Names, path: str, dotted: str) -> str | None:
    """How a decorator of the repository skips under a condition; None for any other."""
    meaning = names.meaning(path, dotted)
    return meaning.item.get("skips") if not isinstance(meaning, str) and meaning.item["k"] == "def" else None


def meanings(names: Names, path: str, dotted: str) -> list[str]:
    """What a decorator means; one built on others inside the repository is seen through."""
    meaning = names.meaning(path, dotted)
    if isinstance(meaning, str):
        return [meaning]
    returned = meaning.item.get("returns", ()) if meaning.item["k"] == "def" else ()
    inner = [names.meaning(meaning.path, mark[0]) for mark in returned]
    return [one for one in inner if isinstance(one, str)]


def last_word(meant: list[str]) -> str:
    """The word that counts of what a decorator means."""
    words = [one.rpartition(".")[2] for one in meant]
    return next((word for word in words if word in SKIPS | FAILS), words[0] if len(words) == 1 else "")


def own(names: Names, path: str, item: DefItem | ClassItem | SetItem) -> Marks:
    """Marks of one definition: its decorators and, for a class, its pytestmark."""
    written = read(names, path, item.get("marks", ())) if item["k"] != "set" else NONE
    if item["k"] == "class":
        written |= module(names, path, item["body"])
    return written | Marks(depends=True) if "maybe" in item and "loop" not in item else written


def module(names: Names, path: str, body: Iterable[Item]) -> Marks:
    """Marks that a module or class body puts on all of its tests."""
    total = NONE
    for item in body:
        if item["k"] == "skip":
            total |= Marks(depends=True) if item.get("maybe") else Marks(skipped=True, always=True)
        elif item["k"] == "set" and item["name"] == "pytestmark":
            total |= read(names, path, item["values"])
        elif item["k"] == "set" and any(value[0].endswith("importorskip") for value in item["values"]):
            total |= Marks(depends=True)
    return total


def given(marks: Marks, rules: Iterable[Giving], options: frozenset[str]) -> Marks:
    """Marks with those that hooks add.  rules: as `gives` of hooks; options: those given."""
    there = marks.names | options
    words = [word for needed, word in rules if all((name.lstrip("!") in there) != (name[0] == "!") for name in needed)]
    added = Marks(any(word in SKIPS for word in words), any(word in FAILS for word in words), depends=True)
    return marks | added if words else marks


def is_fixture(item: DefItem) -> bool:
    """Whether a def is no function that could be a test."""
    words = (mark[0].rpartition(".")[2] for mark in item.get("marks", ()))
    return any(word in FIXTURES or word in NO_FUNCTION for word in words)
