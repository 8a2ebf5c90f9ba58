"""What the rows of a Go file depend on: the suites of all files with their methods, and the calls that run suites."""

from collections.abc import Callable, Iterable

from testlist.languages.go.shape import SuiteFacts, shape
from testlist.model import Facts
from testlist.project import Project


def leads(facts: Facts) -> object:
    """Its outline: packages are read that suites are built of."""
    return outline(facts)


def outline(facts: Facts) -> object:
    """All that is said of suites, without functions and the places of anything."""
    said = {key: facts[key] for key in SuiteFacts.__annotations__ if key in facts}
    return said, {(method["type"], method["name"]) for method in shape(facts).get("methods", ())}


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:  # noqa: ARG001 - the interface has it
    """None: rows are made of outlines and what stands in a file itself."""
    return lambda _path, _facts: ()
