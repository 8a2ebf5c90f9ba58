"""The facts of a Python file, as they pass from the parsing child to the engine."""

from typing import Literal, NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts

#: dotted head of a decorator or value, and how many parameter sets its call lists, if it shows any; in JSON a list of
#: two
Mark = tuple[str, int | None]
#: marks and options that there must be, or with a `!` must not, and the mark that a test is given then; in JSON a list
#: of two
Giving = tuple[list[str], str]


class Branch(TypedDict, total=False):
    """Where an item stands: in a branch that need not run, in a loop, in an else or except branch."""

    maybe: bool
    loop: bool
    other: bool


class Named(Placed):
    """A name and where it is bound: line of the name, column of the statement, its last line."""

    name: str


class FunctionFact(TypedDict, total=False):
    """A function that another one returns.  makes: as of a DefItem."""

    marks: list[Mark]
    makes: list["FunctionFact | str"]


class DefItem(Branch, Named):
    """A function.

    returns: heads of what it returns, as it may be a decorator; built: classes that it writes and returns; makes: what
    it returns that may be a function: its own, or the dotted name of something else that it calls for one; skips: how
    it skips as a decorator (see facts_skipping); gives: of a hook; feature: a feature file that a decorator is given;
    attaches: what it puts into classes, with the names of what it takes.
    """

    k: Literal["def"]
    marks: NotRequired[list[Mark]]
    returns: NotRequired[list[Mark]]
    built: NotRequired[list["ClassItem"]]
    makes: NotRequired[list[FunctionFact | str]]
    skips: NotRequired[str]
    gives: NotRequired[list[Giving]]
    feature: NotRequired[str]
    attaches: NotRequired[list["AttachItem"]]
    takes: NotRequired[list[str]]


class ClassItem(Branch, Named):
    """A class.  bases: dotted names."""

    k: Literal["class"]
    bases: list[str]
    body: list["Item"]
    marks: NotRequired[list[Mark]]


class SetItem(Branch, Named):
    """An assignment.  values: heads of what is assigned; strings: plain ones that it lists; const: a word such as None.

    called: how often something is called in a row for the value; again: with the name itself as an argument; partial:
    dotted name of what `partial` is given; add: what the name had is added to.
    """

    k: Literal["set"]
    values: list[Mark]
    called: NotRequired[int]
    again: NotRequired[bool]
    partial: NotRequired[str]
    const: NotRequired[str]
    strings: NotRequired[list[str]]
    add: NotRequired[bool]


class ImportItem(Branch):
    """`from module import of as name`, or without `of` a module.  level: its leading dots."""

    k: Literal["import"]
    module: str
    level: int
    name: str
    of: NotRequired[str]


class StarItem(Branch):
    """`from module import *`."""

    k: Literal["star"]
    module: str
    level: int


class DelItem(Branch):
    """`del name`."""

    k: Literal["del"]
    name: str


class SkipItem(Branch):
    """The module leaves before its tests."""

    k: Literal["skip"]


class MadeItem(Branch):
    """A call that puts names into the module.  values: heads of what it is given."""

    k: Literal["made"]
    values: list[Mark]


class AttachItem(Branch, Named):
    """`setattr(owner, name, head(…))`.  head: empty for a function that is written there; called: as of a SetItem."""

    k: Literal["attach"]
    owner: str
    head: str
    called: NotRequired[int]


class CallItem(Branch):
    """A call of a module that is given a class.

    given: what it is given, empty for a text that names no test; tells: it speaks of tests.
    """

    k: Literal["call"]
    head: str
    given: list[str]
    tells: bool


Item = DefItem | ClassItem | SetItem | ImportItem | StarItem | DelItem | SkipItem | MadeItem | AttachItem | CallItem
#: what gives a name a meaning
Binding = DefItem | ClassItem | SetItem | ImportItem


class PythonFacts(TypedDict, total=False):
    """One file.  body: names that the module binds, in order, and what else decides on its tests."""

    body: list[Item]


def shape(facts: Facts) -> PythonFacts:
    """Facts by their types."""
    return cast(PythonFacts, facts)
