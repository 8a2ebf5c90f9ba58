"""Print what `make quick` gives pytest, and on stderr what is left out and why.

A change is what differs from the branch `main`: commits, the index, the work tree and new files.  On `main` itself it
is the last commit and what is not committed.  Tests are left out in two cases:

- A package's, if no file below it has changed.
- Those of an area of the service that is closed: nothing has changed that its tests import, directly or through
  others, nor below the folders of data that the area names.

Imports say nothing of templates, statements and child processes, so all other tests of the service always run.
Everything runs where the change is not known, as in a folder without a history, and where what all tests use changed.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SERVICE = "tests"
PACKAGES = Path("packages")
#: A change of these may change every test.
OF_ALL = ("pyproject.toml", "conftest.py", "constraints.txt", "Makefile", "tools/changed.py", "tools/install.py")
#: What the tests of the service and of every package use.
HARNESS = "packages/celery-durable/tests/durable_harness/"
#: What makes databases and processes for all tests of the service.
SHARED = ("tests/conftest.py", "tests/databases.py", "tests/nodes.py")
#: Where the modules of a first name are.
ROOTS = {
    "app": Path(), "tasks": Path(), "tests": Path(), "service_harness": Path("tests/harness"),
    "celery_durable": PACKAGES / "celery-durable/src", "testlist": PACKAGES / "testlist/src",
}  # fmt: skip


@dataclass(frozen=True)
class Area:
    """tests: patterns of files; data: prefixes of paths, besides modules, on which they depend."""

    name: str
    tests: tuple[str, ...]
    data: tuple[str, ...]


AREAS = (
    Area("the embedded server and the supervisor", ("tests/embedded/*.py",), ("app/embedded/", "app/supervisor/")),
    Area(
        "the writing of sentences",
        ("tests/specview/*.py",),
        ("app/specview/", "tests/specview/", "tests/harness/service_harness/canaries.json"),
    ),
    Area(
        "migrations",
        (
            "tests/contract/*migrati*.py",
            "tests/contract/test_usage_backfill.py",
            "tests/contract/test_known_addresses.py",
        ),
        ("migrations/", "app/store/sql/", "packages/celery-durable/src/"),
    ),
)


def main() -> None:
    """Print the arguments, one a line."""
    packages = sorted(path.parent.name for path in PACKAGES.glob("*/tests"))
    arguments, why = selection(packages, changed_files())
    print("\n".join(arguments))
    print(f"make quick: {why}", file=sys.stderr)


def selection(packages: Collection[str], changed: Collection[str] | None, root: Path = Path()) -> tuple[list[str], str]:
    """The arguments of pytest, and what to say of the rest.  changed: paths; None: not known."""
    everything = [SERVICE, *(f"packages/{name}/tests" for name in packages)]
    if changed is None:
        return everything, "everything of the first tier, since there is no branch main to compare with"
    if of_all := sorted(path for path in changed if path.startswith((*OF_ALL, HARNESS))):
        return everything, f"everything of the first tier, since {of_all[0]} has changed"
    chosen = [name for name in packages if any(path.startswith(f"packages/{name}/") for path in changed)]
    left_out = [f"packages/{name}" for name in packages if name not in chosen]
    arguments = [SERVICE, *(f"packages/{name}/tests" for name in chosen)]
    for area in AREAS:
        tests = [path for pattern in area.tests for path in sorted(root.glob(pattern))]
        if tests and not _is_touched(area, tests, changed, root):
            arguments += [f"--ignore={path.relative_to(root)}" for path in tests if path.name.startswith("test_")]
            left_out.append(area.name)
    said = f"left out, since nothing that they use has changed: {', '.join(left_out)}" if left_out else "all is chosen"
    return arguments, said


def _is_touched(area: Area, tests: Collection[Path], changed: Collection[str], root: Path) -> bool:
    if any(path.startswith((*SHARED, *area.data)) for path in changed):
        return True
    used = {str(path.relative_to(root)) for path in imported(tests, root)}
    return not used.isdisjoint(changed)


def imported(files: Collection[Path], root: Path = Path()) -> set[Path]:
    """These files, and the modules of the repository that they import, directly or through others."""
    found, waiting = set[Path](), [*files]
    while waiting:
        path = waiting.pop()
        if path not in found and str(path.relative_to(root)) not in SHARED:
            found.add(path)
            waiting += _imports(path, root)
    return found


@cache  # every area asks for most modules of the service
def _imports(path: Path, root: Path) -> tuple[Path, ...]:
    return tuple(_imported_by(path, root))


def _imported_by(path: Path, root: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = path.parents[node.level - 1]
            yield from _module(package / Path(*(node.module or "").split(".")), [alias.name for alias in node.names])
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from _named(node.module, [alias.name for alias in node.names], root)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _named(alias.name, [], root)


def _named(module: str, names: Collection[str], root: Path) -> Iterator[Path]:
    first, *parts = module.split(".")
    if first in ROOTS:
        base = root / ROOTS[first] / first
        for depth in range(len(parts) + 1):
            yield from _module(base.joinpath(*parts[:depth]), names if depth == len(parts) else [])


def _module(place: Path, names: Collection[str]) -> Iterator[Path]:
    """The file of a module, or of a package with those of its modules that are named."""
    candidates = [place.with_suffix(".py"), place / "__init__.py", *(place / f"{name}.py" for name in names)]
    yield from (path for path in candidates if path.is_file())
    yield from (path for name in names if (path := place / name / "__init__.py").is_file())


def changed_files(root: Path = Path()) -> list[str] | None:
    """Paths that differ from main; None if git does not know."""
    base = _git(root, "merge-base", "HEAD", "main")
    if base is not None and base == _git(root, "rev-parse", "HEAD"):
        base = _git(root, "rev-parse", "--verify", "--quiet", "HEAD~1")
    differing = None if base is None else _git(root, "diff", "--name-only", "-z", base)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return None if differing is None or new is None else sorted({*differing.split("\0"), *new.split("\0")} - {""})


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


if __name__ == "__main__":
    main()
