"""Print the test folders that a change can have broken, for `make quick`, and on stderr what is left out and why.

A change is what differs from the branch `main`: commits, the index, the work tree and new files.  On `main` itself it
is the last commit and what is not committed.  The service's tests always run, and a package's where a file of the
package has changed.  Everything runs where the change is not known, as in a folder without a history, and where it
touches what all tests depend on.  Templates, statements and child processes are why imports are not looked at.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

SERVICE = "tests"
PACKAGES = Path("packages")
#: A change of these may change every test.
OF_ALL = {"pyproject.toml", "constraints.txt", "Makefile", "tools/changed.py", "tools/install.py"}
#: What the tests of the service and of every package use.
HARNESS = "packages/celery-durable/tests/durable_harness/"


def main() -> None:
    """Print the folders, one a line."""
    packages = sorted(path.parent.name for path in PACKAGES.glob("*/tests"))
    chosen, why = folders(packages, changed_files())
    print("\n".join(chosen))
    print(f"make quick: {why}", file=sys.stderr)


def folders(packages: Collection[str], changed: Collection[str] | None) -> tuple[list[str], str]:
    """The folders of tests to run, and what to say of the others.  changed: paths; None: not known."""
    everything = [SERVICE, *(f"packages/{name}/tests" for name in packages)]
    if changed is None:
        return everything, "everything of the first tier, since there is no branch main to compare with"
    if of_all := sorted(path for path in changed if path in OF_ALL or path.startswith(HARNESS)):
        return everything, f"everything of the first tier, since {of_all[0]} has changed"
    touched = {name for name in packages if any(path.startswith(f"packages/{name}/") for path in changed)}
    left_out = [f"packages/{name}" for name in packages if name not in touched]
    said = f"left out, because nothing below has changed: {', '.join(left_out)}" if left_out else "nothing is left out"
    return [SERVICE, *(f"packages/{name}/tests" for name in packages if name in touched)], said


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
