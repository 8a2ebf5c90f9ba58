"""Dumps of the database: written aside and renamed when whole, with a checksum beside, and looked into before use."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import ClassVar

from app import embedded
from app.errors import Problem
from app.postgres_programs import ProgramFailed, address, choose, run
from app.private_files import open_private

#: Longer than a migration holds a lock; a dump that waits makes those wait that come after it.
LOCK_WAIT = "30s"
_BLOCK = 1 << 20
_HEADER = re.compile(r"^;\s+Dumped (from database|by pg_dump) version: (\d+)", re.MULTILINE)
_REVISION = re.compile(r"^COPY (?:\w+\.)?alembic_version .*?;\n(\w+)\n\\\.", re.MULTILINE)


class DumpRefused(Problem):
    """A dump cannot be written, read or restored; the detail says why."""

    slug: ClassVar[str] = "dump-refused"
    title: ClassVar[str] = "The dump cannot be used"


@dataclass(frozen=True, slots=True)
class Dump:
    """What a dump says of itself.

    entries: the lines of its table of contents; server, program: the major versions that it was made of and by;
    revision: of the schema, None if there was none.
    """

    file: Path
    bytes: int
    entries: tuple[str, ...]
    server: int
    program: int
    revision: str | None


def write(url: str, file: Path, *, server: int, replace: bool, watch: Callable[[int], None]) -> Dump:
    """Dump a database while it is used, from one snapshot.

    server: its major version; replace: an existing file; watch: called with the bytes written so far.
    Raises: DumpRefused, ProgramFailed, and an existing file is as it was then.
    """
    if file.exists() and not replace:
        raise DumpRefused(f"{file} exists: choose another name, or --force")
    try:
        _remove_left_behind(file)
        aside = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
        lock = open_private(aside)
    except OSError as error:
        raise DumpRefused(f"cannot write to {file.parent}: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            to = address(url)
            argv = ["--format=custom", f"--file={aside}", "--no-password", f"--lock-wait-timeout={LOCK_WAIT}"]
            argv += ["--no-unlogged-table-data", f"--dbname={to.dsn}"]
            run([choose("pg_dump", server=server), *argv], to, watch=lambda: watch(aside.stat().st_size))
            os.fsync(lock.fileno())
            dump = look_into(aside)
            _give_name(aside, file, _digest(aside), replace=replace)
        except OSError as error:
            raise DumpRefused(f"cannot write {file}: {error.strerror}") from error
        finally:
            aside.unlink(missing_ok=True)
    return Dump(file, dump.bytes, dump.entries, dump.server, dump.program, dump.revision)


def look_into(file: Path) -> Dump:
    """Read the table of contents of a dump, and the revision of its schema.  Raises: DumpRefused, ProgramFailed."""
    try:
        size = file.stat().st_size
    except OSError as error:
        raise DumpRefused(f"{file}: {error.strerror}") from error
    try:
        listed = run([choose("pg_restore", server=0, written_by=_newest()), "--list", file])
    except ProgramFailed as problem:
        raise DumpRefused(f"{file} cannot be read as a dump: {problem}") from problem
    versions = {what: int(major) for what, major in _HEADER.findall(listed)}
    if set(versions) != {"from database", "by pg_dump"}:
        raise DumpRefused(f"{file} is no dump in pg_dump's custom format")
    entries = tuple(line for line in listed.splitlines() if line and not line.startswith(";"))
    program = choose("pg_restore", server=0, written_by=versions["by pg_dump"])
    row = run([program, "--data-only", "--table=alembic_version", "--file=-", file])
    revision = found[1] if (found := _REVISION.search(row)) else None
    return Dump(file, size, entries, versions["from database"], versions["by pg_dump"], revision)


def verify(dump: Dump) -> str:
    """Check that a dump is whole: by its checksum, or without one by reading all of it.

    Returns: how it was checked.  Raises: DumpRefused, ProgramFailed.
    """
    beside = checksum_file(dump.file)
    if beside.is_file():
        wanted = beside.read_text(encoding="utf-8", errors="replace").split(" ", 1)[0].strip()
        if _digest(dump.file) != wanted:
            raise DumpRefused(f"{dump.file} is damaged or incomplete: its checksum is not that of {beside.name}")
        return "its checksum is right"
    try:
        run([choose("pg_restore", server=0, written_by=dump.program), "--file=/dev/null", dump.file])
    except ProgramFailed as problem:
        raise DumpRefused(f"{dump.file} is damaged or incomplete: {problem}") from problem
    return f"there is no {beside.name}; all of it can be read"


def checksum_file(file: Path) -> Path:
    """The file beside a dump, as `sha256sum --check` reads it."""
    return file.with_name(f"{file.name}.sha256")


def _newest() -> int:
    """The newest version of pg_restore here, as an older one may not know the format."""
    return max((program.major for program in embedded.clients("pg_restore")), default=1)


def _remove_left_behind(file: Path) -> None:
    """Remove what a killed backup has written so far; a pg_dump that still writes there goes on in a nameless file."""
    for left in file.parent.glob(f".{escape(file.name)}.*.part"):
        with open_private(left) as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _digest(file: Path) -> str:
    found = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def _give_name(aside: Path, file: Path, digest: str, *, replace: bool) -> None:
    """Rename a whole dump.  Without its checksum it is checked by reading it, so that is taken away first."""
    beside = checksum_file(file)
    beside.unlink(missing_ok=True)
    try:
        if replace:
            aside.replace(file)
        else:
            os.link(aside, file)  # unlike a rename it never replaces
    except FileExistsError:
        raise DumpRefused(f"{file} exists: choose another name, or --force") from None
    except OSError:  # a file system without links
        aside.replace(file)
    new = beside.with_name(f".{beside.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as written:
        written.write(f"{digest}  {file.name}\n")
        written.flush()
        os.fsync(descriptor)
    new.replace(beside)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
