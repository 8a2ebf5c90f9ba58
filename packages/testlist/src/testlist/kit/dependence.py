"""What the dependence of several languages has in common."""

from collections.abc import Callable, Iterable

from testlist.model import Facts
from testlist.project import Project


def nothing(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Say that a file leads to no other, or that no other has anything from it."""
    return None


def no_links(project: Project) -> Callable[[str, Facts], Iterable[str]]:  # noqa: ARG001 - the interface has it
    """Links of a language whose rows are made of outlines and a file's own facts: none."""
    return lambda _path, _facts: ()
