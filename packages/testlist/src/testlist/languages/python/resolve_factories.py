"""Tests that a class body makes by a call: `test_x = make(...)`, where what is called gives a function."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.python import resolve_marks
from testlist.languages.python.resolve_marks import Marks
from testlist.languages.python.resolve_names import Found, Meaning, Names
from testlist.languages.python.shape import FunctionFact, SetItem

#: what the standard library has that gives something to call
PARTIALS: Final = frozenset({"functools.partial", "functools.partialmethod"})
#: functions that return what others return, one after the other
LONGEST: Final = 6


@dataclass(slots=True)
class Makers:
    """What the functions of a repository give.  known: for each of them, a number of calls and of steps."""

    names: Names
    known: dict[tuple[tuple[str, int], int, int], Marks | None] = field(default_factory=dict)

    def made(self, path: str, item: SetItem, members: Mapping[str, Found]) -> Marks | None:
        """Marks of a function that a call puts into a class; None where it is no function.  members: of the class."""
        if "called" not in item or len(item["values"]) != 1:
            return None
        dotted = item["values"][0][0]
        called = members.get(dotted) or self.names.meaning(path, dotted)
        return self.given(called, path, item["called"], LONGEST)

    def given(self, called: Meaning, path: str, calls: int, steps: int) -> Marks | None:
        """Marks of the function that so many calls of something give.  path: of the file that calls it."""
        if isinstance(called, str):
            return self.outside(called, path, calls)
        if called.item["k"] != "def" or not steps:
            return None
        key = (called.key, calls, steps)  # what is found in fewer steps is another answer, whoever asks first
        if key not in self.known:
            self.known[key] = self.first(called.path, called.item.get("makes", ()), calls, steps)
        return self.known[key]

    def first(self, path: str, makes: Sequence[FunctionFact | str], calls: int, steps: int) -> Marks | None:
        """Marks of the first function among what a def of a file returns."""
        for one in makes:
            if isinstance(one, str):
                found = self.given(self.names.meaning(path, one), path, calls, steps - 1)
            elif calls > 1:
                found = self.first(path, one.get("makes", ()), calls - 1, steps)
            else:
                found = resolve_marks.read(self.names, path, one.get("marks", ()))
            if found is not None:
                return found
        return None

    def outside(self, called: str, path: str, calls: int) -> Marks | None:
        """Marks of what a thing from elsewhere gives: `partial(...)`, `expectedFailure(test)`, `skip("why")(test)`."""
        word = called.rpartition(".")[2]
        if calls == (1 if word in resolve_marks.FAILS else 2) and word in resolve_marks.FAILS | resolve_marks.SKIPS:
            return resolve_marks.read(self.names, path, [(called, None)])
        return resolve_marks.NONE if called in PARTIALS and calls == 1 else None
