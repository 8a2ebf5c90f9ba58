"""phpunit.xml as data: the test suites it names."""

from typing import Any, Final

from testlist.kit.markup import Element, elements
from testlist.model import Facts

#: folders and exclusions that are kept; every file is matched with each
PATTERNS: Final = 1_000
KINDS: Final = {"directory": "directories", "file": "files", "exclude": "excluded"}


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read it: {"data": suites}, each {"directories": [[path, prefix, suffix]], "files": [...], "excluded": [...]}."""
    suites: list[dict[str, list[Any]]] = []
    patterns = 0
    for element in elements(source):
        if element.name == "testsuite":
            suites.append({kind: [] for kind in KINDS.values()})
        elif element.name in KINDS and suites and element.inside("testsuite") and element.text.strip():
            patterns += element.name != "file"
            if patterns <= PATTERNS:
                suites[-1][KINDS[element.name]].append(_value(element))
    return {"data": suites}


def _value(element: Element) -> Any:
    path = element.text.strip()
    if element.name != "directory":
        return path
    return [path, element.values.get("prefix", ""), element.values.get("suffix", "Test.php")]
