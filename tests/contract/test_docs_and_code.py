"""What the documents say of the code's structure: which part imports which, and which formats are read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from testlist.languages import FORMATS, READERS, SUFFIXES

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

BROKER = "packages/celery-durable/"
CLIENT = "packages/fairlane-client/"
ENGINE = "packages/testlist/"
#: our packages and their folders
ROOTS = {
    "app": "app",
    "tasks": "tasks",
    "celery_durable": BROKER.rstrip("/"),
    "fairlane_client": CLIENT.rstrip("/"),
    "testlist": ENGINE.rstrip("/"),
}
LAYER = re.compile(r"^\| (`[^|]+) \|[^|]+\| ([^|]+) \|$", re.MULTILINE)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def layers() -> dict[str, set[str]]:
    """Part of the code -> parts and modules that it may import, as the table of the architecture says."""
    table = page("architecture.md").partition("## Layers")[2].partition("\n#")[0]
    named = [(re.findall(r"`([^`]+)`", part), set(re.findall(r"`([^`]+)`", may))) for part, may in LAYER.findall(table)]
    return {part: may for parts, may in named for part in parts}


LAYERS = layers()


def within(path: str, part: str) -> bool:
    """Whether a path is a part, lies below a folder, or matches `app/*.py`."""
    return PurePosixPath(path).match(part) if "*" in part else path.startswith(part)


def part_of(path: str) -> str | None:
    """The innermost part that holds a path, or None."""
    return max((part for part in LAYERS if within(path, part)), key=len, default=None)


def imports(path: Path) -> Iterator[str]:
    """Paths of our own modules that a file imports, from the root of the repository."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for top, _, rest in (name.partition(".") for name in names):
            if top in ROOTS:
                yield module(ROOTS[top], rest)


def module(top: str, rest: str) -> str:
    """`app/errors.py` of app and `errors.Problem`; a folder ends with a slash."""
    found = Path(top)
    for name in rest.split("."):
        if (ROOT / found / f"{name}.py").exists():
            return (found / f"{name}.py").as_posix()
        if not (ROOT / found / name).is_dir():
            break
        found /= name
    return f"{found.as_posix()}/"


def test_the_table_of_layers_names_each_folder_of_the_service() -> None:
    folders = {f"app/{path.parent.name}/" for path in (ROOT / "app").glob("*/__init__.py")}
    assert folders | {"app/*.py", "tasks/", "migrations/versions/", BROKER, CLIENT, ENGINE} <= LAYERS.keys()


@pytest.mark.parametrize("part", sorted(LAYERS))
def test_a_part_imports_what_the_table_of_layers_says_and_nothing_else_of_ours(part: str) -> None:
    files = ROOT.glob(part) if "*" in part else (ROOT / part).rglob("*.py")
    ours = [path for path in files if part_of(path.relative_to(ROOT).as_posix()) == part]
    if part in (BROKER, CLIENT, ENGINE):
        ours = [path for path in ours if "src" in path.parts]
    assert ours
    used = {name for path in ours for name in imports(path) if part_of(name) != part}
    assert {name for name in used if not any(within(name, may) for may in LAYERS[part])} == set()
    # what the table allows is used, or the row says too much
    assert {may for may in LAYERS[part] if not any(within(name, may) for name in used)} == set()


def test_the_formats_of_configuration_are_those_that_have_a_reader() -> None:
    guide = page("../packages/testlist/docs/frameworks.md")
    told = guide.partition("language id: ")[2].partition(", or a programming language")[0]
    on_demand = {form.id for form in FORMATS.values() if form.on_demand}  # of bodies
    assert set(re.findall(r"`([^`]+)`", told)) == READERS.keys() - set(SUFFIXES.values()) - on_demand
