"""What the inventory lists for Python is what pytest itself collects, file by file and line by line."""

from pathlib import Path

import pytest
from testlist import Inventory
from testlist_harness.agreement.runners import pytest_lists
from testlist_harness.corpus import CORPUS, files_of, label
from testlist_harness.repositories import MakeRepository, TakeInventory, git
from testlist_harness.tiers import proofs

ROOT = Path(__file__).resolve().parents[3]
PROJECTS = sorted(path for path in (CORPUS / "pytest").iterdir() if path.is_dir())

Place = tuple[str, int]


def collected(directory: Path, out: Path, *options: str, plain: bool = False) -> tuple[set[Place], str]:
    rows, printed = pytest_lists(directory, out, *options, plain=plain)
    return {(row.file, row.line) for row in rows}, printed


def listed(inventory: Inventory) -> set[Place]:
    return {(test.file, test.line) for test in inventory.tests if test.framework in ("pytest", "unittest")}


@pytest.mark.parametrize("project", proofs(PROJECTS, but=PROJECTS[:1]), ids=label)
def test_a_project_is_listed_as_pytest_collects_it(
    project: Path, make_repository: MakeRepository, take: TakeInventory, tmp_path: Path
) -> None:
    repository = make_repository(files_of(project))
    places, printed = collected(repository, tmp_path / "native.json", plain=True)
    assert listed(take(repository)) == places, printed


@pytest.mark.release
@pytest.mark.timeout(600)  # pytest alone takes a minute to collect all
def test_this_repository_is_listed_as_pytest_collects_it(tmp_path: Path, take: TakeInventory) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not in a clone")
    places, printed = collected(ROOT, tmp_path / "native.json", "--continue-on-collection-errors", "-rs")
    broken = {line.split()[1] for line in printed.splitlines() if line.startswith("ERROR ")}
    # a module that lacks what it imports is skipped as a whole, and pytest lists none of its tests
    broken |= {line.split()[2].partition(":")[0] for line in printed.splitlines() if line.startswith("SKIPPED ")}
    copy = {"GIT_DIR": str(tmp_path / "copy"), "GIT_WORK_TREE": str(ROOT)}  # the working tree as it is now
    (tmp_path / "copy").mkdir()
    git(ROOT, "init", "--quiet", env={"GIT_DIR": copy["GIT_DIR"]})
    git(ROOT, "add", "--all", env=copy)
    git(ROOT, "commit", "--quiet", "--message=state", env=copy)
    found = {place for place in listed(take(tmp_path / "copy")) if place[0] not in broken}
    assert found == {place for place in places if place[0] not in broken}
