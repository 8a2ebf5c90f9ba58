"""What the dependence of several languages has in common."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from testlist.model import Facts
from testlist.project import Project

Class = TypeVar("Class", bound=Mapping[str, Any])


def every(classes: Iterable[Class]) -> Iterator[Class]:
    """Facts of classes, each before those of the classes in it."""
    for one in classes:
        yield one
        yield from every(one.get("classes", ()))


def nothing(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Say that a file leads to no other, or that no other has anything from it."""
    return None


def no_links(project: Project) -> Callable[[str, Facts], Iterable[str]]:  # noqa: ARG001 - the interface has it
    """Links of a language whose rows are made of outlines and a file's own facts: none."""
    return lambda _path, _facts: ()
