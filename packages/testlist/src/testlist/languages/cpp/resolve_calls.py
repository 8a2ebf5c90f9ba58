"""Where a function that a C++ file calls may come from: headers of tests that the file includes."""

from collections.abc import Iterator, Mapping

from testlist.language import Candidate
from testlist.paths import Paths
from testlist.project import folder_of, joined

#: headers that tests are helped by have it in their path
HELPS = "test"


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Headers that may have a function.  imports: what the file includes in quotes -> nothing."""
    for include in imports:
        beside = joined(folder_of(path), include)
        found = beside if beside in paths else paths.nearest(joined("", include), path)
        if found and found != path and HELPS in found.lower():
            yield Candidate(found, called)
