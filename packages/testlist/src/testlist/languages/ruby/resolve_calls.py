"""Where a method that a Ruby file calls may come from: a class or a module by its file, or what the file requires."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from testlist.language import Candidate
from testlist.paths import Paths
from testlist.project import folder_of, joined

#: files that tests are helped by have it in their path
TESTS: Final = re.compile(r"test|spec|helper|support", re.IGNORECASE)
#: what RSpec is often told to require on its command line
IMPLIED: Final = ("spec_helper", "rails_helper")
SPEC: Final = "_spec.rb"
#: between the words of a constant
WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Files that may have a class or a module, `A.B`, or with an empty name methods outside of both.

    imports: what the file requires -> `relative`, or nothing.
    """
    if called[:1].isupper():
        folders, _, last = called.rpartition(".")
        stem = WORDS.sub("_", called).lower().replace(".", "/")
        found = paths.nearest(f"{stem}.rb", path)
        if not found and folders:
            found = paths.nearest(f"{WORDS.sub('_', last).lower()}.rb", path)
        if found and found != path and TESTS.search(found):
            yield Candidate(found, called)
    elif called:
        return
    for file in _required(path, imports, paths):
        yield Candidate(file, called)


def _required(path: str, imports: Mapping[str, str], paths: Paths) -> Iterator[str]:
    names = {**imports, **dict.fromkeys(IMPLIED if path.endswith(SPEC) else (), "")}
    for name, kind in names.items():
        file = f"{name.removesuffix('.rb')}.rb"
        beside = joined(folder_of(path), file)
        found = (beside if beside in paths else "") if kind else paths.nearest(file, path)
        if found and found != path and TESTS.search(found):
            yield found
