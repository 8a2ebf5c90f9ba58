"""What the inventory lists of released projects is what their own runners list, there and then.

A few small ones in `make prove-release`; AGREEMENT=all, `make prove-agreement`, compares all.  They are fetched from PyPI and
npm.  Who reaches one of them not is told so in the suite's last lines; whoever asks for more than the few fails.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from testlist import Inventory, ParseLimits
from testlist_harness.agreement import registries, runners
from testlist_harness.agreement.projects import SDISTS, TARBALLS, Project
from testlist_harness.agreement.score import Listed, compare
from testlist_harness.repositories import TakeInventory, git

#: Agreement is compared, not speed: a busy machine must leave out no file.
PATIENT = ParseLimits(file_seconds=60)
SCOPE = os.environ.get("AGREEMENT", "brief")

pytestmark = [
    pytest.mark.release,
    pytest.mark.timeout(600),
    pytest.mark.skipif(SCOPE == "off", reason="AGREEMENT=off: this machine reaches no package index"),
]


def chosen(projects: tuple[Project, ...]) -> list[object]:
    return [
        pytest.param(one, id=one.name)
        for one in projects
        if one.brief or SCOPE == "all" or one.name in SCOPE.split(",")
    ]


@pytest.mark.parametrize("release", chosen(SDISTS))
def test_an_sdist_is_listed_as_pytest_collects_it(release: Project, tmp_path: Path, take: TakeInventory) -> None:
    with reached():
        project = registries.sdist(release.name, release.version, tmp_path)
        python = registries.environment([f"{release.name}=={release.version}", *release.needs], tmp_path)
    repository = committed(project)  # before the runner leaves reports in it
    listed, printed = runners.pytest_lists(project, tmp_path / "native.json", python=str(python))
    hold(release, take(repository, limits=PATIENT), listed, printed)


@pytest.mark.parametrize("release", chosen(TARBALLS))
def test_a_tarball_is_listed_as_its_runner_lists_it(release: Project, tmp_path: Path, take: TakeInventory) -> None:
    with reached():
        project = registries.tarball(release.name, release.version, tmp_path)
        registries.modules([f"{release.name}@{release.version}", *release.needs], tmp_path)
    repository, listed, printed = committed(project), list[Listed](), ""
    for number, (runner, *options) in enumerate(release.runs):
        rows, said = runners.javascript_lists(runner, project, tmp_path / f"native{number}.json", *options)
        listed, printed = listed + rows, printed + said
    hold(release, take(repository, limits=PATIENT), listed, printed)


@contextmanager
def reached() -> Iterator[None]:
    """A machine without one of the indexes may still run the suite, and is told what it left out."""
    try:
        yield
    except registries.RegistryUnavailable as why:
        if SCOPE != "brief":
            raise
        pytest.skip(f"no package index, or not what is pinned: {why}")


def hold(release: Project, found: Inventory, listed: list[Listed], printed: str) -> None:
    assert listed, printed
    score = compare(found.tests, listed)
    skipped = [(file.path, file.skipped) for file in found.files if file.skipped]
    print(f"\n{release.name} {release.version}: {score}, skipped {skipped}")
    told = f"{score}, skipped {skipped}\n{score.differences()}\n{printed[-4000:]}"
    assert score.precision >= release.precision, told
    assert score.recall >= release.recall, told
    assert score.status >= 95, told


def committed(project: Path) -> Path:
    """A repository of the files as they were shipped, beside them."""
    repository = project.with_name("repository")
    repository.mkdir()
    env = {"GIT_DIR": str(repository), "GIT_WORK_TREE": str(project)}
    git(project, "init", "--quiet", env={"GIT_DIR": env["GIT_DIR"]})
    git(project, "add", "--all", "--force", env=env)
    git(project, "commit", "--quiet", "--message=as shipped", env=env)
    return repository
