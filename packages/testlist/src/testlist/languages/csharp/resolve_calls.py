"""Where a method that a C# file calls may come from: a class, by a file of its name among the tests."""

from collections.abc import Iterator, Mapping

from testlist.language import Candidate
from testlist.paths import Paths

#: files that tests are helped by have it in their path
HELPS = "test"


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:  # noqa: ARG001 - the interface has it
    """The file that may have a class, `A`, or a static method of it, `A.b`."""
    owner = called.partition(".")[0]
    found = paths.nearest(f"{owner}.cs", path) if owner[:1].isupper() else ""
    if found and found != path and HELPS in found.lower():
        yield Candidate(found, called)
