"""Tests that `setattr` puts into classes of a module, in its own statements or in functions that they call."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from testlist.languages.python.resolve_classes import Class, Classes
from testlist.languages.python.resolve_factories import LONGEST, Makers
from testlist.languages.python.resolve_names import Found, Names
from testlist.languages.python.shape import AttachItem

#: what gives a function of a function, wherever it comes from
PARTIALS: Final = frozenset({"partial", "partialmethod"})
WORD: Final = "test"


class Attached(NamedTuple):
    """A test that is put into a class.

    owner: this class; path: of the file that it is written in; suites: the class, if it is named there.
    What a function puts into whatever class it is given is one test, where the function writes it.
    """

    owner: Class
    path: str
    suites: tuple[str, ...]
    item: AttachItem


@dataclass(slots=True)
class Attaching:
    """One repository.  members: of classes whose methods were looked for; a module may call one for each test."""

    names: Names
    makers: Makers
    classes: Classes
    members: dict[tuple[str, int], dict[str, Found]] = field(default_factory=dict)

    def of(self, path: str) -> Iterator[Attached]:
        """All of one module; one for each class that a function is given."""
        for item in self.names.body(path):
            if item["k"] == "attach":
                yield from self.whole(path, item["owner"], item, tells=False)
            elif item["k"] == "call":
                yield from self.by(path, item["head"], item["given"], tells=item["tells"])
            elif item["k"] == "def":  # into classes that it names itself
                own = (one for one in item.get("attaches", ()) if one["owner"] not in item.get("takes", ()))
                for one in own:
                    yield from self.whole(path, one["owner"], one, tells=False)
            elif item["k"] == "class":
                for head, _ in item.get("marks", ()):  # a decorator is given the class
                    yield from self.by(path, head, [item["name"]], tells=WORD in head.lower())

    def by(self, path: str, head: str, given: list[str], *, tells: bool) -> Iterator[Attached]:
        """What a call of a function of the module does.  given: names that it is given."""
        owner, dot, method = head.rpartition(".")
        one = Class.of(self.names.meaning(path, owner)) if dot else None
        function = self.function(path, head) if one is None else self.method(one, method)
        if function is None or function.item["k"] != "def":
            return
        given = [owner, *given] if one is not None else given  # a class method is given its class
        taken = dict(zip(function.item.get("takes", ()), given, strict=False))
        for item in function.item.get("attaches", ()):
            name = taken.get(item["name"], item["name"])
            if item["owner"] in taken and name:
                there: AttachItem = {**item, "name": name}
                yield from self.whole(path, taken[item["owner"]], there, tells=tells, written=function.path)

    def function(self, path: str, head: str) -> Found | None:
        """The function of the module that a name stands for."""
        meaning = self.names.meaning(path, head)
        return meaning if isinstance(meaning, Found) and meaning.path == path else None

    def method(self, one: Class, name: str) -> Found | None:
        """A method of a class, or of its bases."""
        if one.key not in self.members:
            self.members[one.key] = self.classes.members(self.classes.order(one))
        return self.members[one.key].get(name)

    def whole(
        self, path: str, owner: str, item: AttachItem, *, tells: bool, written: str | None = None
    ) -> Iterator[Attached]:
        """A test, if its class is known, it is called like one, and what is put there is a function.

        path: of the file that names the class; written: of the one with the function that has the statement.
        """
        one = Class.of(self.names.meaning(path, owner)) if owner else None
        place = written or path
        if one is not None and (tells or WORD in item["name"].lower()) and self.is_function(place, item):
            suites = (*one.outer, one.item["name"]) if written is None else ()
            yield Attached(one, place, suites, item)

    def is_function(self, path: str, item: AttachItem) -> bool:
        """Whether a value is a function, or a call gives one."""
        head, called = item["head"], item.get("called", 0)
        if not head or (called == 1 and head.rpartition(".")[2] in PARTIALS):
            return True
        meaning = self.names.meaning(path, head)
        if called:
            return self.makers.given(meaning, path, called, LONGEST) is not None
        if isinstance(meaning, str):
            bound = self.names.table(path).get(head)
            value = bound.item if bound is not None else None
            return value is not None and value["k"] == "set" and self.makers.made(path, value, {}) is not None
        if meaning.item["k"] == "set":
            return self.makers.made(meaning.path, meaning.item, {}) is not None
        return meaning.item["k"] == "def"
