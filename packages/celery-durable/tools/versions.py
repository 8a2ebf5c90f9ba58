"""Run the package's tests with every version of Python, Celery and PostgreSQL that is here: `make prove-versions`.

    python packages/celery-durable/tools/versions.py [--celery 5.7 …] [--python 3.11 …] [--postgresql 15 …] [-- PYTEST…]

A Python is a `python3.X` of the PATH or of pyenv.  A PostgreSQL is one of Debian's, or the newest, which comes with the
tests.  Prints a line for each combination, and ends with 1 when one of them failed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CELERY = ("5.7",)
PYTHON = ("3.11", "3.12", "3.13", "3.14")
POSTGRESQL = ("15", "16", "17", "newest")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--celery", nargs="+", choices=CELERY, default=CELERY)
    parser.add_argument("--python", nargs="+", choices=PYTHON, default=PYTHON)
    parser.add_argument("--postgresql", nargs="+", choices=POSTGRESQL, default=POSTGRESQL)
    parser.add_argument("pytest", nargs="*", default=[])
    given = parser.parse_args()
    failed = False
    for version in given.python:
        if (python := interpreter(version)) is None:
            print(f"Python {version}: not here", flush=True)
            continue
        for celery in given.celery:
            with tempfile.TemporaryDirectory() as folder:
                Path(folder).chmod(0o755)  # PostgreSQL does not run as root, and its programs are below
                environment = install(python, celery, Path(folder))
                for postgresql in given.postgresql:
                    failed |= not passes(environment, version, celery, postgresql, given.pytest)
    return int(failed)


def interpreter(version: str) -> str | None:
    """The program of a Python, or None."""
    found = sorted(Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


def install(python: str, celery: str, folder: Path) -> Path:
    """Make an environment with the package, its tests' needs and this Celery; the program of its Python."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    program = folder / "venv" / "bin" / "python"
    pip = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"{PACKAGE}[test]", f"celery=={celery}.*"], check=True)
    return program


def passes(python: Path, version: str, celery: str, postgresql: str, arguments: list[str]) -> bool:
    """Run the tests, and tell how that ended."""
    where = Path(f"/usr/lib/postgresql/{postgresql}/bin")
    if postgresql != "newest" and not where.is_dir():
        print(f"PostgreSQL {postgresql}: not here", flush=True)
        return True
    environment = os.environ | ({} if postgresql == "newest" else {"POSTGRES_BIN": str(where)})
    argv = [python, "-m", "pytest", "-q", "-n", "2", "--ignore", "tests/test_wheel.py", *arguments]
    done = subprocess.run(argv, cwd=PACKAGE, env=environment, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1:] or [done.stderr.strip()[-200:]]
    print(f"Python {version}, Celery {celery}, PostgreSQL {postgresql}: {last[0]}", flush=True)
    if done.returncode:
        print("\n".join(line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
