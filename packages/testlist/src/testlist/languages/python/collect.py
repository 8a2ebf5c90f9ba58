"""What a run would collect from one Python module, each test at its own definition."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from testlist.languages.python import resolve_marks
from testlist.languages.python.resolve_factories import Makers
from testlist.languages.python.resolve_marks import Marks
from testlist.languages.python.resolve_names import Found, Names, bind

#: a class with one of these is not collected
MAKERS: Final = frozenset({"__init__", "__new__"})
DATA_CLASSES: Final = frozenset({"dataclass", "define", "frozen", "attrs", "s"})
BASES_WITH_INIT: Final = frozenset(
    {"dict", "list", "set", "frozenset", "tuple", "str", "bytes", "int", "float", "NamedTuple", "TypedDict", "Enum",
     "IntEnum", "StrEnum", "Flag", "IntFlag", "Thread", "BaseModel", "RuleBasedStateMachine"}
)  # fmt: skip
ERRORS: Final = ("Error", "Exception", "Warning")
WILD: Final = frozenset("*?[")
CASES: Final = ("TestCase",)
LIKE_CASES: Final = ("Test", "Tests")  # what libraries call the cases that they give others to build on
LIBRARY_CASES: Final = (*LIKE_CASES, "TestBase")
DATABASE: Final = "sqlite"  # the one that a library's classes are run on unless another is asked for
METHODS: Final = ("test",)  # unittest's own prefix; it needs no underscore


@dataclass(frozen=True, slots=True)
class Rules:
    """Which names are tests: prefixes, or patterns where they hold one of `*?[`."""

    functions: tuple[str, ...] = ("test",)
    classes: tuple[str, ...] = ("Test",)
    library: str = ""  # one whose plugin collects the classes that are built on its own, whatever they are called

    def is_function(self, name: str) -> bool:
        """Whether a function of this name is a test."""
        return matches(name, self.functions)

    def is_class(self, name: str) -> bool:
        """Whether a class of this name holds tests."""
        return matches(name, self.classes)


class Hit(NamedTuple):
    """One test as collected.  found: its definition, perhaps in another file; in_case: in a TestCase."""

    found: Found
    marks: Marks
    in_case: bool = False
    name: str = ""  # where it differs from the definition's

    @property
    def place(self) -> tuple[str, int, tuple[str, ...], str]:
        """The definition's identity."""
        return (self.found.path, self.found.item["line"], self.found.outer, self.name or self.found.item["name"])


def refused(table: dict[str, Found], name: str) -> bool:
    """Whether `__test__` of this name is set to False."""
    return name in table and table[name].item.get("const") == "False"


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Apply pytest's rule for python_functions and python_classes."""
    return name.startswith(patterns) or any(
        fnmatchcase(name, pattern) for pattern in patterns if not WILD.isdisjoint(pattern)
    )


@dataclass(slots=True)
class Collector:
    """Reads modules with one set of rules."""

    names: Names
    rules: Rules
    orders: dict[tuple[str, int], list[Found]] = field(default_factory=dict)
    makers: Makers = field(init=False)
    entered: set[int] = field(default_factory=set)  # classes met below one of a module's own

    def __post_init__(self) -> None:
        """Share the names."""
        self.makers = Makers(self.names)

    def module(self, path: str) -> Iterator[Hit]:
        """Tests a run of this file would have."""
        outer = resolve_marks.module(self.names, path, self.names.body(path))
        for name, bound in self.names.table(path).items():
            self.entered.clear()
            meaning = self.names.meaning(path, name)
            if isinstance(meaning, str):
                if self.is_machine(path, bound, meaning):
                    suite = (*bound.outer, name)
                    yield Hit(Found(path, bound.item, suite), outer, in_case=True, name="runTest")
            elif self.rules.library and meaning.item["k"] == "def":
                continue  # such a plugin takes none
            elif not refused(self.names.table(path), f"{name}.__test__"):
                yield from self._named(name, meaning, outer)
        yield from self._made(path, outer)

    def _made(self, path: str, outer: Marks) -> Iterator[Hit]:
        """Tests of classes that a call puts into the module: `globals().update(Builder.cases())`."""
        made = (item for item in self.names.body(path) if item["k"] == "made")
        for dotted in (value[0] for item in made for value in item["values"]):
            places = (self.names.meaning(path, one) for one in (dotted, dotted.rpartition(".")[0]) if one)
            found = next((one for one in places if isinstance(one, Found) and one.item["k"] == "class"), None)
            if found is not None:
                yield from self._methods(self.members(self.order(found)), outer | Marks(dynamic=True, cases=0))

    def _named(self, name: str, found: Found, outer: Marks) -> Iterator[Hit]:
        if found.item["k"] == "class":
            yield from self._class(name, found, outer)
        elif found.item["k"] == "def" and self.rules.is_function(name) and not resolve_marks.is_fixture(found.item):
            yield Hit(found, outer | resolve_marks.own(self.names, found.path, found.item))

    def _class(self, name: str, found: Found, outer: Marks) -> Iterator[Hit]:
        if id(found.item) in self.entered:
            return  # it is built on the class around it, and so holds itself
        self.entered.add(id(found.item))
        order = self.order(found)
        in_case = self.is_case(found)
        members = self.members(order)
        if refused(members, "__test__"):
            return
        for parent in order:
            outer |= resolve_marks.own(self.names, parent.path, parent.item)
        if in_case:
            yield from self._methods(members, outer)
        elif self.takes(name, order, members) and not members.keys() & MAKERS and not self.is_made(order):
            for member, inner in members.items():
                if not refused(members, f"{member}.__test__"):
                    yield from self._named(member, inner, outer)

    def _methods(self, members: dict[str, Found], outer: Marks) -> Iterator[Hit]:
        """Tests of a TestCase; without any, its runTest."""
        tests = [
            hit for name, inner in members.items() if matches(name, METHODS) for hit in self._method(inner, members)
        ]
        alone = self._method(members["runTest"], members) if not tests and "runTest" in members else ()
        for hit in tests or alone:
            yield hit._replace(marks=outer | hit.marks)

    def _method(self, member: Found, members: dict[str, Found]) -> Iterator[Hit]:
        """A member of a TestCase as a test, if it is a function: one that is written there, or that a call makes."""
        given = resolve_marks.NONE if member.item["k"] == "def" else self.makers.made(member, members)
        if given is not None and not resolve_marks.is_fixture(member.item):
            yield Hit(member, resolve_marks.own(self.names, member.path, member.item) | given, in_case=True)

    def is_made(self, order: list[Found]) -> bool:
        """Whether a decorator or a base outside the repository gives the class an `__init__` or `__new__`."""
        for parent in order:
            words = {str(mark[0]).rpartition(".")[2] for mark in parent.item.get("marks", [])}
            bases = {base.rpartition(".")[2] for base in self.outside([parent])}
            if words & DATA_CLASSES or bases & BASES_WITH_INIT or any(base.endswith(ERRORS) for base in bases):
                return True
        return False

    def members(self, order: list[Found]) -> dict[str, Found]:
        """Names of a class and its bases in the repository, each as the class itself would find it."""
        table: dict[str, Found] = {}
        for found in reversed(order):
            outer = (*found.outer, found.item["name"])
            table |= bind(Found(found.path, item, outer) for item in found.item["body"])
        return {
            name: self.aliased(inner, table) if inner.item["k"] == "set" else inner for name, inner in table.items()
        }

    def aliased(self, member: Found, members: dict[str, Found]) -> Found:
        """An assigned member, or for `test_this = check` the def that it is another name of."""
        values = member.item.get("values", []) if not member.item.get("called") else []
        if len(values) != 1:
            return member
        dotted = values[0][0]
        other = members.get(dotted) or self.names.meaning(member.path, dotted)
        return other if isinstance(other, Found) and other.item["k"] == "def" else member

    def order(self, found: Found) -> list[Found]:
        """A class and its bases in the repository, nearest first."""
        key = found.key
        if key not in self.orders:
            self.orders[key] = [found]  # a class cannot be its own base, but hostile text may say so
            chain = [found, *(parent for base in self.bases(found) for parent in self.order(base))]
            # a base shared by two parents comes after both
            last = {parent.key: number for number, parent in enumerate(chain)}
            self.orders[key] = [parent for number, parent in enumerate(chain) if last[parent.key] == number]
        return self.orders[key]

    def bases(self, found: Found) -> Iterator[Found]:
        """Direct bases in the repository."""
        for dotted in found.item["bases"]:
            base = self.names.meaning(found.path, dotted, user=found.item)
            if isinstance(base, Found) and base.item["k"] == "class":
                yield base

    def is_case(self, found: Found) -> bool:
        """Whether the bases end outside the repository in something called ...TestCase.

        A class that pytest would not take by its name is trusted to be one if it is built on a test class at all.
        """
        ends = CASES if self.rules.library or self.rules.is_class(found.item["name"]) else (*CASES, *LIKE_CASES)
        return any(base.endswith(ends) for base in self.outside(self.order(found)))

    def takes(self, name: str, order: list[Found], members: dict[str, Found]) -> bool:
        """Whether a class is collected, by its name or by the library's classes that it is built on."""
        if not self.rules.library:
            return self.rules.is_class(name)
        only = members["__only_on__"].item.get("strings", []) if "__only_on__" in members else []
        if name.startswith("_") or (only and not any(database.startswith(DATABASE) for database in only)):
            return False
        return any(parent.item["name"] == LIBRARY_CASES[-1] for parent in order) or any(
            base.startswith(self.rules.library) or base.endswith(LIBRARY_CASES) for base in self.outside(order)
        )

    def outside(self, order: list[Found]) -> Iterator[str]:
        """Direct bases of these classes that the repository does not hold."""
        for parent in order:
            meanings = (self.names.meaning(parent.path, dotted, user=parent.item) for dotted in parent.item["bases"])
            yield from (meaning for meaning in meanings if isinstance(meaning, str))

    def is_machine(self, path: str, bound: Found, meaning: str) -> bool:
        """`TestX = Machine.TestCase`: a state machine's one test, which has no def in the repository."""
        values = bound.item.get("values", [])
        if bound.item["k"] != "set" or len(values) != 1 or not meaning.endswith(".TestCase"):
            return False
        machine = values[0][0].rpartition(".")[0]
        return bool(machine) and isinstance(self.names.meaning(path, machine), Found)
