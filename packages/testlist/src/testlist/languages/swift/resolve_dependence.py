"""What the rows of a Swift file depend on: the types of all files, and whether these are skipped."""

from collections.abc import Callable, Iterable

from testlist.languages.swift.shape import shape
from testlist.model import Facts
from testlist.project import Project


def leads(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Nothing: candidates are all that is read."""
    return None


def outline(facts: Facts) -> object:
    """Its types, which have no places."""
    return shape(facts).get("types", [])


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:  # noqa: ARG001 - the interface has it
    """None: rows are made of outlines and a file's own functions."""
    return lambda _path, _facts: ()
