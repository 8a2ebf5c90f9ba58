"""What the rows of an Elixir file depend on: what all modules use and offer, and the macros that are called.

Tests count where they are written, so those of one file mean nothing to another.
"""

from collections.abc import Callable, Iterable

from testlist.languages.elixir.shape import shape
from testlist.model import Facts
from testlist.project import Project


def leads(facts: Facts) -> object:
    """Modules by their names, and what they use: files are found by these names."""
    return [(one["name"], one["uses"], one.get("offers")) for one in shape(facts).get("modules", ())]


def outline(facts: Facts) -> object:
    """All that is looked through for the whole repository, without tests and the places of anything."""
    own = shape(facts)
    tests = own.get("tests", ())
    titled = {one["word"] for one in tests if "word" in one}
    written = {one["macro"] for one in tests if "macro" in one and "open" in one}
    names = [set(own.get("calls", ())), set(own.get("requires", ())), set(own.get("excludes", ()))]
    return leads(facts), names, titled, written


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:  # noqa: ARG001 - the interface has it
    """None: rows are made of outlines and a file's own facts."""
    return lambda _path, _facts: ()
