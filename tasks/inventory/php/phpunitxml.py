"""phpunit.xml as data: the test suites it names."""

from typing import Any, Final

from tasks.inventory.markup import Element, elements
from tasks.inventory.model import Facts

KINDS: Final = {"directory": "directories", "file": "files", "exclude": "excluded"}


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read it: {"data": {"directories": [[path, prefix, suffix]], "files": [...], "excluded": [...]}}."""
    data: dict[str, list[Any]] = {"directories": [], "files": [], "excluded": []}
    for element in elements(source):
        if element.name in KINDS and element.inside("testsuite") and element.text.strip():
            data[KINDS[element.name]].append(_value(element))
    return {"data": data}


def _value(element: Element) -> Any:
    path = element.text.strip()
    if element.name != "directory":
        return path
    return [path, element.values.get("prefix", ""), element.values.get("suffix", "Test.php")]
