"""Where a function that a Go file calls may come from: its package, which is its folder, or an imported one."""

from collections.abc import Iterator, Mapping
from typing import Final

from testlist.language import Candidate
from testlist.paths import Paths
from testlist.project import above, endings, folder_of

TESTS: Final = "_test.go"
#: a package that helps tests has it in its path
HELPS: Final = "test"
MANIFEST: Final = "go.mod"


def area(path: str) -> str:
    """Files of tests of one folder, or the other ones of a folder that helps tests."""
    folder = folder_of(path)
    if path.endswith(TESTS):
        return f"{folder}/*{TESTS}"
    return f"{folder}/*.go" if HELPS in folder else ""


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Areas that may have a function, or the methods of a type.

    imports: name of a package -> its path, and of no name, the unit of this file.
    """
    folder, unit = folder_of(path), imports.get("", "")
    owner, dot, name = called.rpartition(".")
    if not dot:
        yield Candidate(f"{folder}/*{TESTS}", called, unit)
        if HELPS in folder and not unit:
            yield Candidate(f"{folder}/*.go", called)
    elif HELPS in imports.get(owner, "") and (found := _folder(path, imports[owner], paths)) is not None:
        yield Candidate(f"{found}/*.go", name)


def _folder(path: str, package: str, paths: Paths) -> str | None:
    """The folder of a package: below that of its module, which its path ends with, if there is one."""
    roots = [folder for folder in above(path) if f"{folder}/{MANIFEST}".lstrip("/") in paths]
    for root in roots:
        for end in endings(package)[1:]:
            folder = f"{root}/{end}" if root else end
            if folder in paths.folders:
                return folder
    return None
