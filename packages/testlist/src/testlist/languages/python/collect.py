"""What a run would collect from one Python module, each test at its own definition, and its row."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from testlist.kit import rows
from testlist.languages.python import resolve_marks
from testlist.languages.python.collect_attached import Attaching
from testlist.languages.python.resolve_classes import Class, Classes
from testlist.languages.python.resolve_factories import Makers
from testlist.languages.python.resolve_marks import Marks
from testlist.languages.python.resolve_names import Found, Names
from testlist.languages.python.resolve_scenarios import Scenarios
from testlist.languages.python.shape import AttachItem, Binding, DefItem, SetItem
from testlist.model import Test

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
#: the frameworks that functions and plain classes, and that test cases belong to
PLAIN_BY, CASE_BY = "pytest", "unittest"


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
    """One test as collected.  path, outer, item: its definition, perhaps in another file, and the classes around it."""

    framework: str
    path: str
    outer: tuple[str, ...]
    item: DefItem | SetItem | AttachItem
    name: str
    marks: Marks

    @property
    def place(self) -> tuple[str, str, int, tuple[str, ...], str]:
        """The definition's identity."""
        return (self.framework, self.path, self.item["line"], self.outer, self.name)


def refused(table: dict[str, Found], name: str) -> bool:
    """Whether `__test__` of this name is set to False."""
    item = table[name].item if name in table else None
    return item is not None and item["k"] == "set" and item.get("const") == "False"


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
    classes: Classes = field(init=False)
    makers: Makers = field(init=False)
    scenarios: Scenarios = field(init=False)
    attaching: Attaching = field(init=False)
    entered: set[int] = field(default_factory=set)  # classes met below one of a module's own

    def __post_init__(self) -> None:
        """Share the names."""
        self.classes = Classes(self.names)
        self.makers = Makers(self.names)
        self.scenarios = Scenarios(self.names)
        self.attaching = Attaching(self.names, self.makers, self.classes)

    def module(self, path: str) -> Iterator[Hit]:
        """Tests a run of this file would have."""
        outer = resolve_marks.module(self.names, path, self.names.body(path))
        for name, bound in self.names.table(path).items():
            self.entered.clear()
            meaning = self.names.meaning(path, name)
            if isinstance(meaning, str):
                if bound.item["k"] == "set" and self.is_machine(path, bound.item, meaning):
                    yield Hit(CASE_BY, path, (*bound.outer, name), bound.item, "runTest", outer)
            elif self.rules.library and meaning.item["k"] == "def":
                continue  # such a plugin takes none
            elif not refused(self.names.table(path), f"{name}.__test__"):
                yield from self._named(name, meaning, outer)
        yield from self._made(path, outer)
        yield from self._attached(path, outer)

    def _attached(self, path: str, outer: Marks) -> Iterator[Hit]:
        """Tests that `setattr` puts into classes: each made at run time, where that is written."""
        known = dict[tuple[str, int], tuple[str, Marks]]()  # a class may be given thousands of tests
        for one, written, suites, item in self.attaching.of(path) if not self.rules.library else ():
            if one.key not in known:
                name = one.item["name"]
                by = CASE_BY if self.is_case(one) else PLAIN_BY if self.rules.is_class(name) else ""
                marks = outer | resolve_marks.own(self.names, one.path, one.item) | Marks(dynamic=True, cases=0)
                known[one.key] = by, marks
            by, marks = known[one.key]
            if by:
                yield Hit(by, written, suites, item, item["name"], marks)

    def _made(self, path: str, outer: Marks) -> Iterator[Hit]:
        """Tests of classes that a call puts into the module: `globals().update(Builder.cases())`."""
        made = (item for item in self.names.body(path) if item["k"] == "made")
        for dotted in (value[0] for item in made for value in item["values"]):
            places = (self.names.meaning(path, one) for one in (dotted, dotted.rpartition(".")[0]) if one)
            found = next((one for one in map(Class.of, places) if one is not None), None)
            if found is not None:
                members = self.classes.members(self.classes.order(found))
                yield from self._methods(members, outer | Marks(dynamic=True, cases=0))

    def _named(self, name: str, found: Found, outer: Marks) -> Iterator[Hit]:
        if (one := Class.of(found)) is not None:
            yield from self._class(name, one, outer)
        elif found.item["k"] == "def" and self.rules.is_function(name) and not resolve_marks.is_fixture(found.item):
            if self.scenarios.has(found.path, found.item):
                return  # the scenario itself is the row
            marks = outer | resolve_marks.own(self.names, found.path, found.item)
            yield Hit(PLAIN_BY, found.path, found.outer, found.item, found.item["name"], marks)

    def _class(self, name: str, one: Class, outer: Marks) -> Iterator[Hit]:
        if id(one.item) in self.entered:
            return  # it is built on the class around it, and so holds itself
        self.entered.add(id(one.item))
        order = self.classes.order(one)
        members = self.classes.members(order)
        if refused(members, "__test__"):
            return
        for parent in order:
            outer |= resolve_marks.own(self.names, parent.path, parent.item)
        if self.is_case(one):
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
        item = member.item
        if item["k"] not in ("def", "set"):
            return
        if item["k"] == "def":
            given = None if resolve_marks.is_fixture(item) else resolve_marks.NONE
        else:
            given = self.makers.made(member.path, item, members)
        if given is not None:
            marks = resolve_marks.own(self.names, member.path, item) | given
            yield Hit(CASE_BY, member.path, member.outer, item, item["name"], marks)

    def is_made(self, order: list[Class]) -> bool:
        """Whether a decorator or a base outside the repository gives the class an `__init__` or `__new__`."""
        for parent in order:
            words = {mark[0].rpartition(".")[2] for mark in parent.item.get("marks", ())}
            bases = {base.rpartition(".")[2] for base in self.classes.outside([parent])}
            if words & DATA_CLASSES or bases & BASES_WITH_INIT or any(base.endswith(ERRORS) for base in bases):
                return True
        return False

    def is_case(self, one: Class) -> bool:
        """Whether the bases end outside the repository in something called ...TestCase.

        A class that pytest would not take by its name is trusted to be one if it is built on a test class at all.
        """
        ends = CASES if self.rules.library or self.rules.is_class(one.item["name"]) else (*CASES, *LIKE_CASES)
        return any(base.endswith(ends) for base in self.classes.outside(self.classes.order(one)))

    def takes(self, name: str, order: list[Class], members: dict[str, Found]) -> bool:
        """Whether a class is collected, by its name or by the library's classes that it is built on."""
        if not self.rules.library:
            return self.rules.is_class(name)
        only = strings(members["__only_on__"].item) if "__only_on__" in members else []
        if name.startswith("_") or (only and not any(database.startswith(DATABASE) for database in only)):
            return False
        return any(parent.item["name"] == LIBRARY_CASES[-1] for parent in order) or any(
            base.startswith(self.rules.library) or base.endswith(LIBRARY_CASES) for base in self.classes.outside(order)
        )

    def is_machine(self, path: str, item: SetItem, meaning: str) -> bool:
        """`TestX = Machine.TestCase`: a state machine's one test, which has no def in the repository."""
        if len(item["values"]) != 1 or not meaning.endswith(".TestCase"):
            return False
        machine = item["values"][0][0].rpartition(".")[0]
        return bool(machine) and isinstance(self.names.meaning(path, machine), Found)


def strings(item: Binding) -> list[str]:
    """The strings that are assigned to a name."""
    return item.get("strings", []) if item["k"] == "set" else []


def weight(marks: Marks) -> tuple[bool, ...]:
    """How much keeps a test from running."""
    return (marks.always, marks.skipped, marks.xfail, marks.depends)


def row(hits: list[Hit]) -> Test:
    """One definition; it is skipped only if it is skipped wherever it is collected."""
    first = hits[0]
    marks = first.marks if len(hits) == 1 else min((hit.marks for hit in hits), key=weight)
    return rows.row(
        first.framework,
        first.path,
        first.outer,
        first.name,
        first.item,
        status=marks.status,
        dynamic=marks.dynamic,
        cases=marks.cases if marks.dynamic and marks.cases else None,
        depends=marks.depends,
        never=marks.always,  # `skipif` makes a test skipped, and it still depends
    )
