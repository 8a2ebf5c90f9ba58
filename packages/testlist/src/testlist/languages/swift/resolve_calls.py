"""Where a function that a Swift file calls may come from: another file of its target, which is a folder of tests."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from testlist.language import Candidate
from testlist.paths import Paths
from testlist.project import above

#: folders of tests, by their names
TARGET: Final = re.compile(r"(?:.*/)?[^/]*(?:Tests?|Specs?)")


def area(path: str) -> str:
    """The target: the innermost folder around a file that is called like one of tests."""
    target = next((folder for folder in above(path) if TARGET.fullmatch(folder)), "")
    return f"{target}/*.swift" if target else ""


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:  # noqa: ARG001 - the interface has it
    """The area of a function, a type or, with an empty name, of functions outside of types."""
    if target := area(path):
        yield Candidate(target, called)
