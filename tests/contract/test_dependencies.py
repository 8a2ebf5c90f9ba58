"""Each dependency that a distribution declares is imported by its code."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT

#: Programs and drivers that are named in commands or addresses, and so are never imported.
NAMED = {"psycopg2-binary": "the driver in the addresses of SQLAlchemy"}
PROJECTS = [Path(), *sorted(path.parent.relative_to(ROOT) for path in (ROOT / "packages").glob("*/pyproject.toml"))]
FOLDERS = {Path(): ("app", "tasks", "migrations", "celeryconfig.py")}


def imported(project: Path) -> set[str]:
    """The top packages that the code of a distribution imports, or names in a string, as `Grammar` does to load one."""
    found = set[str]()
    for folder in FOLDERS.get(project, ("src",)):
        place = ROOT / project / folder
        for path in [place] if place.is_file() else place.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.add(node.module.split(".")[0])
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                    found.add(node.value)
    return found


@pytest.mark.proof
@pytest.mark.parametrize("project", PROJECTS, ids=str)
def test_each_declared_dependency_is_imported(project: Path) -> None:
    modules: dict[str, set[str]] = {}
    for module, owners in metadata.packages_distributions().items():
        for owner in owners:
            modules.setdefault(re.sub(r"[-_.]+", "-", owner).lower(), set()).add(module)
    declared = tomllib.loads((ROOT / project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = {re.match(r"[\w.-]+", one)[0].lower() for one in declared}  # type: ignore[index]
    used = imported(project)
    assert {name for name in names - NAMED.keys() if not modules.get(name, {name.replace("-", "_")}) & used} == set()
