"""`make release` and its dry run, in a clone of this repository (tools/release.py)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.nodes import ROOT

pytestmark = pytest.mark.proof

TOOL = ROOT / "tools" / "release.py"
#: Programs that take hours or are not everywhere; they note how they were called, and fail if they are told to.
DOUBLE = """#!/bin/sh
[ "$*" = info ] || echo "$(basename "$0") $*" >> "$CALLS"
case "$*" in $FAILS) exit 1;; esac
"""


@dataclass
class Clone:
    """A clone in which 9.1.0 can be released after 9.0.0."""

    folder: Path
    base: str

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        argv = ["git", *identity, *arguments]
        return subprocess.run(argv, cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def change(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text, (path, old)
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def release(self, *arguments: str, fails: str = "nothing") -> subprocess.CompletedProcess[str]:
        programs = self.folder.parent / "programs"
        programs.mkdir(exist_ok=True)
        for name in ("make", "docker"):
            (programs / name).write_text(DOUBLE)
            (programs / name).chmod(0o755)
        (self.folder.parent / "calls").write_text("")
        env = os.environ | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(self.folder.parent / "calls"),
            "FAILS": fails,
            **{
                f"GIT_{who}_{what}": "test@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
            },
        }
        argv = [sys.executable, TOOL, *arguments]
        return subprocess.run(argv, cwd=self.folder, env=env, capture_output=True, text=True)

    @property
    def calls(self) -> list[str]:
        return (self.folder.parent / "calls").read_text().splitlines()

    @property
    def state(self) -> tuple[str, str, str]:
        return self.git("rev-parse", "HEAD"), self.git("status", "--porcelain"), self.git("tag", "--list")


@pytest.fixture(scope="module")
def cloned(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    folder = tmp_path_factory.mktemp("release") / "clone"
    done = subprocess.run(["git", "clone", "--quiet", "--no-tags", ROOT, folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"there is no history to clone: {done.stderr.strip()}")
    made = Clone(folder, "")
    made.git("checkout", "--quiet", "-B", "main")
    commit = made.git("rev-parse", "HEAD")
    newest = max(path.name[:4] for path in (folder / "migrations/versions").glob("[0-9]*.py"))
    with (folder / "releases.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[[release]]\nversion = "9.0.0"\ndate = 2026-01-01\ncommit = "{commit}"\nrevision = "{newest}"\n')
    (folder / "app/version.py").write_text('"""The version."""\n\nVERSION = "9.1.0.dev0"\n')
    (folder / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- It is faster.\n\n## 9.0.0 (2026-01-01)\n")
    (folder / "docs/upgrading.md").write_text("\n| 9.1.0 | nothing |\n\n| 9.0.1 | nothing |\n")
    made.git("add", "--all")
    made.git("commit", "--quiet", "--message", "tests: begin 9.1.0")
    return Clone(folder, made.git("rev-parse", "HEAD"))


@pytest.fixture
def clone(cloned: Clone) -> Clone:
    cloned.git("reset", "--quiet", "--hard", cloned.base)
    cloned.git("clean", "--quiet", "-fd")
    for tag in cloned.git("tag", "--list").split():
        cloned.git("tag", "--delete", tag)
    return cloned


def test_a_dry_run_says_what_would_be_released_and_changes_nothing(clone: Clone) -> None:
    before = clone.state
    done = clone.release("9.1.0", "--dry-run", "--without-gates")
    assert (done.returncode, done.stderr) == (0, "")
    assert clone.state == before
    assert clone.calls == []
    assert "would write app/version.py and deploy/helm/fairlane/Chart.yaml: 9.1.0" in done.stdout
    assert "- It is faster." in done.stdout.splitlines()
    for command in ("make check", "make test-all", "make prove-release", "make dist", "docker build "):
        assert f"would run {command}" in done.stdout
    assert "would commit and tag v9.1.0, and add it to releases.toml" in done.stdout


def test_a_release_passes_the_gates_is_tagged_and_entered_and_the_next_version_begins(clone: Clone) -> None:
    done = clone.release("9.1.0")
    assert (done.returncode, done.stderr) == (0, "")
    gates, image = clone.calls[:4], clone.calls[4]
    assert gates == ["make check", "make test-all", "make prove-release", "make dist"]
    tagged = clone.git("rev-parse", "v9.1.0^{commit}")
    assert f"--tag fairlane:9.1.0 --build-arg FAIRLANE_VERSION=9.1.0 --build-arg REVISION={tagged} ." in image
    assert tagged == clone.git("rev-parse", "HEAD^")
    assert 'VERSION = "9.1.0"' in clone.git("show", "v9.1.0:app/version.py")
    assert re.search(
        r"## Unreleased\n\n## 9\.1\.0 \(\d{4}-\d\d-\d\d\)\n\n- It is faster\.\n\n## 9\.0\.0",
        clone.git("show", "v9.1.0:CHANGELOG.md"),
    )
    entered = tomllib.loads((clone.folder / "releases.toml").read_text(encoding="utf-8"))["release"][-1]
    assert (entered["version"], entered["commit"]) == ("9.1.0", tagged)
    assert "\nversion: 9.1.0\nappVersion: 9.1.0\n" in clone.git("show", "v9.1.0:deploy/helm/fairlane/Chart.yaml")
    assert 'VERSION = "9.2.0.dev0"' in (clone.folder / "app/version.py").read_text(encoding="utf-8")
    chart = (clone.folder / "deploy/helm/fairlane/Chart.yaml").read_text(encoding="utf-8")
    assert "\nversion: 9.2.0-dev0\nappVersion: 9.2.0.dev0\n" in chart
    assert clone.git("status", "--porcelain") == ""


def test_without_a_daemon_of_docker_the_release_has_no_image_and_says_so(clone: Clone) -> None:
    done = clone.release("9.1.0", fails="info")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the image is not built" in done.stdout
    assert clone.calls == ["make check", "make test-all", "make prove-release", "make dist"]


def test_a_gate_that_fails_leaves_no_commit_and_no_tag(clone: Clone) -> None:
    before = clone.state
    done = clone.release("9.1.0", fails="prove-release")
    assert done.returncode == 1
    assert "nothing is released" in done.stderr
    assert clone.calls == ["make check", "make test-all", "make prove-release"]
    assert clone.state == before


def uncommitted(clone: Clone) -> None:
    clone.change("README.md", "# Fairlane", "# Fair lane")


def committed(*change: str) -> Callable[[Clone], None]:
    def commit(clone: Clone) -> None:
        clone.change(*change)
        clone.git("commit", "--quiet", "--all", "--message", "tests: change")

    return commit


def with_a_migration(clone: Clone) -> None:
    (clone.folder / "migrations/versions/9999_more.py").write_text("")
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--message", "migrations: more")


ENGINE = "packages/testlist/pyproject.toml"


@pytest.mark.parametrize(
    ("version", "before", "told"),
    [
        ("9.1", None, "'9.1' is no version: expected three numbers, such as 0.4.0"),
        ("v9.1.0", None, "'v9.1.0' is no version"),
        ("9.1.0.dev0", None, "'9.1.0.dev0' is no version"),
        ("9.0.0", None, "9.0.0 does not follow 9.0.0: expected 9.0.1, 9.1.0 or 10.0.0"),
        ("9.2.0", None, "9.2.0 does not follow 9.0.0"),
        ("9.0.1", with_a_migration, "9.0.1 is a patch, and there are migrations since 9.0.0: expected 9.1.0"),
        ("9.1.0", uncommitted, "there are changes that are not committed"),
        ("9.1.0", lambda clone: clone.git("tag", "v9.1.0"), "there is a tag v9.1.0 already"),
        ("9.1.0", committed("CHANGELOG.md", "- It is faster.\n", ""), "CHANGELOG.md has no line below `## Unreleased`"),
        ("10.0.0", None, "docs/upgrading.md has no row for 10.0.0"),
        (
            "9.1.0",
            committed(ENGINE, 'description = "', 'description = "More: '),
            "packages/testlist has changed since the last release, and is still",
        ),
        ("9.1.0", committed(ENGINE, 'version = "', 'version = "9'), "packages/testlist/CHANGELOG.md has no section 9"),
        ("9.1.0", committed(ENGINE, 'version = "', 'version = "9'), "pyproject.toml does not require testlist==9"),
        (
            "9.1.0",
            committed("releases.toml", 'version = "9.0.0"\ndate = 2026-01-01\ncommit = "', 'version = "9.0.0"\ncommit = "ffff'),
            "the commit of 9.0.0 is not in this clone",
        ),
    ],
)  # fmt: skip
def test_what_stands_against_a_release_is_said_and_nothing_is_done(
    clone: Clone, version: str, before: Callable[[Clone], object] | None, told: str
) -> None:
    if before:
        before(clone)
    state = clone.state
    done = clone.release(version)
    assert done.returncode == 1
    assert f"release: {told}" in done.stderr
    assert (clone.state, clone.calls) == (state, [])


def test_only_a_dry_run_may_leave_the_gates_out(clone: Clone) -> None:
    done = clone.release("9.1.0", "--without-gates")
    assert (done.returncode, clone.calls) == (2, [])
    assert "--without-gates is only of --dry-run" in done.stderr
