"""Releases: what releases.toml, the changelog and the upgrade page say of each is the same, and is so in the history."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.version import Version

from app.version import VERSION
from tests.contract.conftest import ROOT
from tests.releases import LAST, RELEASES, Release

pytestmark = pytest.mark.rule

PACKAGES = sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml"))
VERSIONS = [release.version for release in RELEASES]
FILES = ROOT / "migrations" / "versions"
#: version -> the other cells of its row.
ROWS = {
    cells[0]: cells[1:]
    for line in (ROOT / "docs" / "upgrading.md").read_text(encoding="utf-8").splitlines()
    if re.fullmatch(r"\d+\.\d+\.\d+", (cells := [cell.strip() for cell in line.strip("|").split("|")])[0])
}


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)


def newest(names: list[str]) -> str:
    """The newest revision among files of migrations."""
    return max(name[:4] for name in names if re.match(r"\d{4}_", name))


def test_releases_follow_each_other_and_this_version_comes_after_them() -> None:
    for before, after in pairwise([*VERSIONS, Version(VERSION).base_version]):
        major, minor, patch = Version(before).release
        assert Version(after).release in {(major, minor, patch + 1), (major, minor + 1, 0), (major + 1, 0, 0)}, after


def test_revisions_never_go_back_and_a_patch_brings_none() -> None:
    for before, after in pairwise(RELEASES):
        assert before.revision <= after.revision
        assert after.version.endswith(".0") or before.revision == after.revision


def test_the_changelog_has_a_section_for_each_release_below_what_is_not_released() -> None:
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = tomllib.loads((ROOT / "releases.toml").read_text(encoding="utf-8"))["release"]
    released = [f"{one['version']} ({one['date']})" for one in reversed(listed)]
    begun = [] if Version(VERSION).is_prerelease or VERSIONS[-1] == VERSION else sections[1:2]
    assert sections == ["Unreleased", *begun, *released]
    assert all(section.startswith(f"{VERSION} (") for section in begun)


def test_the_upgrade_page_has_a_row_for_each_version_with_its_migrations() -> None:
    coming = Version(VERSION).base_version
    assert list(ROWS) == [*({coming} & ROWS.keys() - {*VERSIONS}), *reversed(VERSIONS)]
    revisions = dict(zip(VERSIONS, [release.revision for release in RELEASES], strict=True))
    revisions |= {coming: newest([path.name for path in FILES.iterdir()])}
    assert ROWS[VERSIONS[0]][1] == f"up to {revisions[VERSIONS[0]]}"
    for before, version in pairwise([one for one in [*VERSIONS, coming] if one in ROWS]):
        first, last = int(revisions[before]) + 1, int(revisions[version])
        told = [f"{first:04}", f"{last:04}"] if first < last else [f"{last:04}" if first == last else "none"]
        assert re.split(r"\W", ROWS[version][1]) == told, version


def test_a_migration_without_a_release_has_a_row() -> None:
    if newest([path.name for path in FILES.iterdir()]) > RELEASES[-1].revision:
        assert Version(VERSION).base_version in ROWS


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.version)
def test_the_commit_of_a_release_has_the_revision_that_is_told(release: Release) -> None:
    listed = git("ls-tree", "--name-only", f"{release.commit}:migrations/versions")
    if listed.returncode:
        pytest.skip(f"release {release.version} is not in this clone: {listed.stderr.strip()}")
    assert newest(listed.stdout.splitlines()) == release.revision


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_service_requires_the_version_of_each_package_that_is_here(package: Path) -> None:
    version = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f'"{package.name}=={version}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"\n## {version}\n" in (package / "CHANGELOG.md").read_text(encoding="utf-8")


#: Tasks that the oldest of the last releases does not know: what becomes of such a message on one of its workers.
NEW_TASKS = {
    "LOOK": "a dead letter, and the next submission of an older commit asks for a look again; docs/upgrading.md names it",
}


def tasks_in(sources: list[str]) -> dict[str, set[str]]:
    """Task, as it is named where it is defined -> the parameters that a message has to give it."""
    return {
        ast.unparse(keyword.value): {one.arg for one in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
        for source in sources
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef)
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "app.task"
        for keyword in decorator.keywords
        if keyword.arg == "name"
    }


@pytest.mark.parametrize("release", LAST, ids=lambda release: release.version)
def test_a_worker_of_a_served_release_understands_the_messages_of_this_one(release: Release) -> None:
    listed = git("ls-tree", "--name-only", release.commit, "tasks/")
    if listed.returncode:
        pytest.skip(f"release {release.version} is not in this clone: {listed.stderr.strip()}")
    files = [name for name in listed.stdout.split() if name.endswith(".py")]
    known = tasks_in([git("show", f"{release.commit}:{name}").stdout for name in files])
    now = tasks_in([path.read_text(encoding="utf-8") for path in (ROOT / "tasks").glob("*.py")])
    assert len(known) > 5
    assert known == {name: parameters for name, parameters in now.items() if name in known}
    assert now.keys() - known.keys() <= NEW_TASKS.keys()
