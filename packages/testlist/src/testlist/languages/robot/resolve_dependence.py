"""What the rows of a file depend on: its own facts, and those of the files of the folders around it."""

from collections.abc import Callable, Iterable

from testlist.kit.dependence import nothing
from testlist.languages.robot.resolve import Folders
from testlist.model import Facts
from testlist.project import Project


def links(project: Project) -> Callable[[str, Facts], Iterable[str]] | None:
    """Files of the folders around."""
    folders = project.once(Folders.of)

    def linked(path: str, _: Facts) -> Iterable[str]:
        return (file for _, file in folders.above(path) if file in folders.own and file != path)

    return linked


leads = nothing
outline = nothing
