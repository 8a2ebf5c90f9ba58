"""phpunit.xml as data: the test suites it names."""

from typing import Final

from testlist.kit.markup import Element, elements
from testlist.languages.php.shape import SuiteFact
from testlist.model import Facts

#: folders and exclusions that are kept; every file is matched with each
PATTERNS: Final = 1_000
KINDS: Final = frozenset({"directory", "file", "exclude"})


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read it: {"data": suites}, each a SuiteFact."""
    suites: list[SuiteFact] = []
    patterns = 0
    for element in elements(source):
        if element.name == "testsuite":
            suites.append({"directories": [], "files": [], "excluded": []})
        elif element.name in KINDS and suites and element.inside("testsuite") and element.text.strip():
            patterns += element.name != "file"
            if patterns <= PATTERNS:
                _add(element, suites[-1])
    return {"data": suites}


def _add(element: Element, suite: SuiteFact) -> None:
    path = element.text.strip()
    if element.name == "directory":
        suite["directories"].append((path, element.values.get("prefix", ""), element.values.get("suffix", "Test.php")))
    else:
        suite["files" if element.name == "file" else "excluded"].append(path)
