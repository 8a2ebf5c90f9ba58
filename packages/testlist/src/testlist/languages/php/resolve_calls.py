"""Where a method or a function that a PHP file calls may come from: a class by its namespace and its file."""

from collections.abc import Iterator, Mapping
from typing import Final

from testlist.language import Candidate
from testlist.paths import Paths

#: files of one name that are looked into
MOST: Final = 3
#: where Pest takes functions for all tests from
SHARED: Final = "tests/pest.php"


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Files that may have a class by its full name after a backslash, a static method, `B.c`, or a function.

    imports: alias in lower case -> full name, and the namespace of the file by an empty alias.
    """
    owner, dot, method = called.rpartition(".")
    if called.startswith("\\"):
        yield from _files(path, called[1:], "", paths)
    elif dot:
        space = imports.get("", "")
        full = imports.get(owner.lower()) or (f"{space}\\{owner}" if space else owner)
        yield from _files(path, full, f".{method}", paths)
    elif (shared := paths.nearest(SHARED, path)) and shared != path:
        yield Candidate(shared, called)


def _files(path: str, full: str, member: str, paths: Paths) -> Iterator[Candidate]:
    """Files called like a class, those first whose folders are called like its namespaces."""
    space, _, name = full.rpartition("\\")
    found = paths.ending(f"{name}.php", path)
    found.sort(key=lambda one: -_alike(one, space))
    for file in found[:MOST]:
        if file == path:
            continue
        yield Candidate(file, f"{name}{member}", unit=f"\\{space}")


def _alike(file: str, space: str) -> int:
    """How many folders of a file, from the last one on, are called like those of a namespace."""
    folders, spaces = file.lower().split("/")[-2::-1], space.lower().split("\\")[::-1]
    count = 0
    for folder, one in zip(folders, spaces, strict=False):
        if folder != one:
            break
        count += 1
    return count
