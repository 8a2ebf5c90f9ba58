"""Where a called name of a file in Java or Kotlin comes from: a class of the repository, by its folders."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from testlist.language import Candidate
from testlist.paths import Paths

#: `module/src/test/java/` before the folders of a package
ROOT: Final = re.compile(r"(?P<module>(?:.*/)?)src/(?P<set>\w+)/(?P<language>java|kotlin)/")
#: sets of sources that tests see, besides their own
SETS: Final = ("main", "test", "testFixtures", "commonMain", "commonTest", "jvmMain", "jvmTest")
SUFFIXES: Final = {"java": "java", "kotlin": "kt"}


def home(path: str, called: str, imports: Mapping[str, str], paths: Paths) -> Iterator[Candidate]:
    """Where a called name comes from; nothing if it comes from elsewhere.

    imports: name -> where it is imported from, by dots.
    """
    head, _, rest = called.partition(".")
    parts = [*imports.get(head, head).split("."), *filter(None, rest.split("."))]
    place = next((place for place, part in enumerate(parts) if part[:1].isupper()), None)
    if place is None:
        return
    stem, inner = "/".join(parts[: place + 1]), ".".join(parts[place:])
    stems = _imported(path, stem) if head in imports else _beside(path, stem)
    found = next((file for one in stems for file in _files(one) if file in paths), None)
    if found is not None:
        yield Candidate(found, inner, certain=True)


def _files(stem: str) -> Iterator[str]:
    return (f"{stem}.{suffix}" for suffix in SUFFIXES.values())


def _beside(path: str, stem: str) -> Iterator[str]:
    """A class of the same package, in the same folder or in one of the other sets."""
    folder = path.rpartition("/")[0]
    yield f"{folder}/{stem}" if folder else stem
    if (root := ROOT.match(path)) is not None:
        yield from _sets(root, f"{folder[root.end() :]}/{stem}".lstrip("/"))


def _imported(path: str, stem: str) -> Iterator[str]:
    """A class by its package: in the sets of its module, or below a folder above the file."""
    if (root := ROOT.match(path)) is not None:
        yield from _sets(root, stem)
        return
    above = path
    while above:
        above = above.rpartition("/")[0]
        yield f"{above}/{stem}" if above else stem


def _sets(root: re.Match[str], stem: str) -> Iterator[str]:
    for one in dict.fromkeys((root["set"], *SETS)):
        for language in SUFFIXES:
            yield f"{root['module']}src/{one}/{language}/{stem}"
