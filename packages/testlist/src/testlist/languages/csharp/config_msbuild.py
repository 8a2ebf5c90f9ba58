"""MSBuild files as data: packages, global usings and what they say of tests.  Conditions are not evaluated."""

from typing import Any, Final

from testlist.kit.markup import Element, elements
from testlist.model import Facts

REFERENCES: Final = frozenset({"PackageReference", "Reference", "package", "GlobalPackageReference"})
#: patterns of files that are kept; every file is matched with each
PATTERNS: Final = 500
KEYS: Final = {"ProjectReference": "projects", "Using": "usings", "Compile": "compiled"}
#: files of one file that it is built on
IMPORTS: Final = 50


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read a project, a props or targets file, or packages.config.  Raises: ValueError and its kin."""
    data: dict[str, Any] = {"packages": [], "projects": [], "usings": [], "compiled": [], "removed": [], "imports": []}
    for element in elements(source):
        _note(element, data)
    if not data["removed"]:  # files below the project are compiled anyway
        data["compiled"] = [one for one in data["compiled"] if one.startswith("../")]
    for patterns in (data["compiled"], data["removed"]):
        del patterns[PATTERNS:]
    del data["imports"][IMPORTS:]
    return {"data": {key: value for key, value in data.items() if value or value is False}}


def _note(element: Element, data: dict[str, Any]) -> None:
    values = element.values
    included = values.get("Include", "")
    if element.name in REFERENCES:
        data["packages"].append((included or values.get("id", "")).partition(",")[0].strip().lower())
    elif element.name in KEYS and included:
        data[KEYS[element.name]].append(included.replace("\\", "/"))
    elif element.name == "Import" and "Sdk" not in values and not _conditional(element):
        data["imports"].append(values.get("Project", "").replace("\\", "/"))
    elif element.name == "Project" and "Sdk" in values:
        data["packages"].append(values["Sdk"].partition("/")[0].lower())
    elif element.name == "IsTestProject" and not _conditional(element):
        data["test"] = element.text.strip().lower() == "true"
    if element.name == "Compile" and "Remove" in values and not _conditional(element):
        data["removed"].append(values["Remove"].replace("\\", "/"))


def _conditional(element: Element) -> bool:
    return any("Condition" in one.values for one in (*element.above, element))
