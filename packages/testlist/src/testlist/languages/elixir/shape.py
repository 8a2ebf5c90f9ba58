"""The facts of an Elixir file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts


class ModuleFact(TypedDict):
    """A module.  name: its whole name; uses: what it says `use` of.

    offers: what a module that uses it says `use` of thereby, if it can be used at all.  cases: sets of parameters its
    tests run with, 0 where they are computed.
    """

    name: str
    uses: list[str]
    offers: NotRequired[list[str]]
    cases: NotRequired[int]


class TestFact(Placed):
    """A test, or a call that may declare one.  module: whole name; describe: title of the group around it.

    macro: the macro that writes it; open: its title is the caller's.  word: the call, if only a macro of the
    repository could make it a test.  tags: names that are set.
    """

    name: str
    module: str
    describe: NotRequired[str]
    macro: NotRequired[str]
    open: NotRequired[bool]
    word: NotRequired[str]
    kind: NotRequired[str]
    status: NotRequired[str]
    when: NotRequired[bool]
    dynamic: NotRequired[bool]
    cases: NotRequired[int]
    tags: NotRequired[list[str]]


class ElixirFacts(TypedDict, total=False):
    """One file; what is empty is left out.

    calls: names called in bodies of modules, if no library has them; requires: files it loads; excludes: tags that a
    run leaves out.  paths, pattern: of tests, as a project file says.
    """

    modules: list[ModuleFact]
    tests: list[TestFact]
    calls: list[str]
    requires: list[str]
    excludes: list[str]
    paths: list[str]
    pattern: str


def shape(facts: Facts) -> ElixirFacts:
    """Facts by their types."""
    return cast(ElixirFacts, facts)
