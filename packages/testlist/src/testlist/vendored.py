"""Test libraries that a repository carries whole, of which nobody runs the tests there, and those that it is itself."""

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
#: the end of a file of a library of checks -> ids of its language
CHECKS: Final = {f"/{tail}": language.ids for language in LANGUAGES for tail in language.libraries.checks}
#: folders of what others wrote
ELSEWHERE: Final = re.compile(
    r"(?i)(?:^|/)(?:vendor(?:ed)?|third[-_]?party|node_modules|extern(?:al)?s?|deps|dependencies|submodules|pods|carthage"
    r"|site-packages)/"
)


def tested(paths: Iterable[str]) -> frozenset[str]:
    """Ids of languages of whose libraries of checks a repository is one itself."""
    ends = tuple(CHECKS)
    own = [one for one in (f"/{path}" for path in paths) if one.endswith(ends) and not ELSEWHERE.search(one)]
    return frozenset(found for end, ids in CHECKS.items() if any(one.endswith(end) for one in own) for found in ids)


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
