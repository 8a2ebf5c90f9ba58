"""The releases of releases.toml, and their code, which runs in the environment of the tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SERVED = 3  # releases before this one, which its schema serves


@dataclass(frozen=True)
class Release:
    """version: `this` for the tree with the tests; revision: of its newest migration."""

    version: str
    commit: str
    revision: str


RELEASES = [
    Release(one["version"], one["commit"], one["revision"])
    for one in tomllib.loads((ROOT / "releases.toml").read_text(encoding="utf-8"))["release"]
]
LAST = RELEASES[-SERVED:]
#: What the web, a node and the command line import first.
START = "import app.migrate, app.server.config, app.web, tasks.celery"


@dataclass(frozen=True)
class Code:
    """A release whose processes can be started."""

    version: str
    folder: Path

    @property
    def packages(self) -> dict[str, str]:
        """The environment in which it finds its own packages, and not the installed ones."""
        if self.folder == ROOT:
            return {}
        return {"PYTHONPATH": os.pathsep.join(str(source) for source in sorted(self.folder.glob("packages/*/src")))}

    def fairlane(self, url: str, home: Path, *command: str) -> str:
        """Run a command; -> what it prints."""
        env = os.environ | {"DATABASE_URL": url, "FAIRLANE_HOME": str(home)} | self.packages
        argv = [sys.executable, "-m", "app.cli", *command]
        done = subprocess.run(argv, cwd=self.folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{self.version}: {done.stdout}{done.stderr}"
        return done.stdout


THIS = Code("this", ROOT)


def unpacked(release: Release, folder: Path) -> Code:
    """The code of a release, from the history.

    The test is skipped, with the name of the release, where the clone lacks its commit, or where this environment
    lacks what it imports.
    """
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", release.commit], capture_output=True)
    if packed.returncode:
        pytest.skip(f"release {release.version} is not in this clone: {packed.stderr.decode().strip()}")
    code = Code(release.version, folder / release.version)
    code.folder.mkdir()
    subprocess.run(["tar", "x", "-C", str(code.folder)], input=packed.stdout, check=True)
    nowhere = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "PYTHONWARNINGS": "ignore"}
    env = os.environ | code.packages | nowhere
    started = subprocess.run([sys.executable, "-c", START], cwd=code.folder, env=env, capture_output=True, text=True)
    if started.returncode:
        why = started.stderr.strip().splitlines()[-1]
        assert not re.search(r"named '(app|tasks)\b", why), f"{release.version}: {why}"
        pytest.skip(f"release {release.version} does not run in this environment: {why}")
    return code
