"""Test libraries that a repository carries whole: nobody runs their own tests there."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from testlist.languages import LANGUAGES
from testlist.project import folder_of

#: a file of a library as its project lays it out -> what its folder is called wherever it is copied to
LAYOUTS: Final = {tail: re.compile(name) for language in LANGUAGES for tail, name in language.libraries.layouts.items()}
ENDS: Final = tuple(f"/{tail}" for tail in LAYOUTS)
#: folders that lie side by side in one project
PAIRS: Final = tuple(pair for language in LANGUAGES for pair in language.libraries.beside)


def copies(paths: Iterable[str]) -> frozenset[str]:
    """Folders that hold such a library; none of a repository that is the library itself."""
    found = frozenset(_layouts(paths))
    return frozenset(whole for folder in found if (whole := _whole(folder, found)))


def _layouts(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if path.endswith(ENDS):
            for tail, name in LAYOUTS.items():
                folder = path.removesuffix(f"/{tail}")
                if folder != path and name.search(folder.rpartition("/")[2]):
                    yield folder


def _whole(folder: str, found: Collection[str]) -> str:
    """The folder a library was copied as."""
    above, _, name = folder.rpartition("/")
    beside = (f"{above}/{other}".lstrip("/") for one, other in PAIRS if name == one)
    return above if any(other in found for other in beside) else folder


def is_copied(path: str, folders: Collection[str]) -> bool:
    """Whether a file lies in one of some folders."""
    while folders and path:
        path = folder_of(path)
        if path in folders:
            return True
    return False
