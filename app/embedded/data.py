"""The data directory of the embedded PostgreSQL: created completely or not at all, together with its passwords."""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from app import processes
from app.embedded.account import HostAccount
from app.embedded.binaries import EmbeddedUnavailable, Programs

ADMIN, OWNER, ROLE, DATABASE = "fairlane_admin", "fairlane_owner", "app", "fairlane"
REMOVE_SECONDS = 10.0
INITDB_FOLDERS = {"1", "4", "5"}  # template1, template0, postgres, fixed since 15; any other one is a database of ours

# For a small machine.  An operator may edit postgresql.conf; postmaster.py sets what we rely on at start
SETTINGS = """
max_connections = 200
shared_buffers = 128MB                  # touched pages only; idle it is a few MB
effective_cache_size = 512MB
maintenance_work_mem = 64MB
max_wal_size = 512MB                    # disk; a checkpoint comes sooner instead
wal_compression = on
random_page_cost = 1.1
max_prepared_transactions = 16          # a move of an account between cells needs one; 2 kB each
jit = off                               # our statements are short
autovacuum_naptime = 10s                # 20,000 short jobs are 40 MB until it looks
dynamic_shared_memory_type = mmap       # in the data directory: a killed server leaves nothing in /dev/shm
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
max_logical_replication_workers = 0
idle_in_transaction_session_timeout = 60s
client_connection_check_interval = 5s   # a statement of a killed client ends
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %q%u@%d '
log_error_verbosity = terse             # values of rows stay out of the log
log_min_error_statement = panic         # and so do statements
log_checkpoints = off
"""
SETTINGS_SINCE = {
    16: "scram_iterations = 1                    # they slow down guessing; our passwords are 192 random bits\n",
    18: "io_method = sync                        # three processes less\n",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Access:
    """How to connect to the server.  The passwords consist of letters, digits, `-` and `_`: safe in URLs and in SQL.

    owner_password: None until the roles are separate (roles.py).
    """

    port: int
    password: str = field(repr=False)
    admin_password: str = field(repr=False)
    owner_password: str | None = field(repr=False, default=None)

    def url(self) -> str:
        """The service's address, in libpq's form."""
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{self.port}/{DATABASE}"

    def owner_url(self) -> str:
        """The address of the tables' owner: for migrations and restores, never for the service."""
        return f"postgresql://{OWNER}:{self.owner_password}@127.0.0.1:{self.port}/{DATABASE}"

    def admin_url(self, database: str = "postgres") -> str:
        """The superuser's address: for repairs, never for the service."""
        return f"postgresql://{ADMIN}:{self.admin_password}@127.0.0.1:{self.port}/{database}"


def majors(home: Path) -> set[int]:
    """The major versions of a home's data."""
    found = ((re.fullmatch(r"pg(\d+)", entry.name), entry) for entry in home.iterdir())
    return {int(name[1]) for name, entry in found if name and is_complete(entry)}


def is_complete(data: Path) -> bool:
    """Whether initdb completed here: of all files that a server needs, it writes these two last."""
    return (data / "PG_VERSION").is_file() and (data / "global" / "pg_control").is_file()


def load(data: Path) -> Access | None:
    """Read the passwords of the data; None if a file is missing or broken, except for the owner's."""
    service, admin, owner = (
        re.fullmatch(r"postgresql://\w+:([\w-]+)@127\.0\.0\.1:(\d+)/\w+\n", _text(path)) for path in _files(data)
    )
    if not service or not admin:
        return None
    return Access(int(service[2]), service[1], admin[1], owner[1] if owner else None)


def save(data: Path, access: Access) -> None:
    """Write the URL files, mode 0600, each atomically; the owner's if there is one."""
    for path, url in zip(_files(data), (access.url(), access.admin_url(), access.owner_url()), strict=True):
        if url != access.owner_url() or access.owner_password:
            _write_private(path, url + "\n")


def create(data: Path, programs: Programs, account: HostAccount, *, port: int, durable: bool) -> Access:
    """Create the cluster, its role and its database, then give it its name in one rename.

    A process that dies on the way leaves only a `pgN.new-*` folder, which the next call removes; it never held a row.
    Raises: EmbeddedUnavailable.
    """
    _clear(data)
    access = Access(port, secrets.token_urlsafe(24), secrets.token_urlsafe(24))
    work = Path(tempfile.mkdtemp(prefix=f"{data.name}.new-", dir=data.parent))
    try:
        account.own(work)
        made = work / data.name
        _initdb(made, programs, account, access)
        if durable:
            account.run([programs.initdb, "--sync-only", "-D", str(made)], cwd=work)
        save(data, access)  # before the rename, so that complete data always has its passwords
        made.rename(data)
        _sync(data.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return access


def renew(data: Path, programs: Programs, account: HostAccount, *, port: int) -> Access:
    """Give the superuser and the service new passwords if the URL files are lost; the server must not run.

    Raises: EmbeddedUnavailable.
    """
    access = Access(port, secrets.token_urlsafe(24), secrets.token_urlsafe(24))
    _single_user(data, programs, account, _passwords(access))
    _files(data)[2].unlink(missing_ok=True)  # the owner gets a new one when the server runs
    save(data, access)
    log.warning("postgres_passwords_renewed", extra={"data": str(data)})
    return access


def moved(data: Path, access: Access, port: int) -> Access:
    """Write the server's actual port."""
    if access.port == port:
        return access
    save(data, changed := replace(access, port=port))
    return changed


def _clear(data: Path) -> None:
    """Make room for new data.  Raises: EmbeddedUnavailable if the existing files may contain rows."""
    for left in data.parent.glob(f"{data.name}.new-*"):
        _remove(left, data.name)
    if not data.exists():
        return
    if {folder.name for folder in data.glob("base/*") if folder.name.isdecimal()} - INITDB_FOLDERS:
        raise EmbeddedUnavailable(
            f"{data} is damaged (PG_VERSION or global/pg_control is missing) and holds data: put it back from a copy,"
            " or move it away and restore a dump into a new one (pg_restore)"
        )
    # another program's initdb that did not finish; it is moved, not deleted, as we cannot know what else is there
    aside = Path(tempfile.mkdtemp(prefix=f"{data.name}.broken-", dir=data.parent))
    data.rename(aside / data.name)
    log.warning("postgres_data_incomplete", extra={"data": str(data), "moved_to": str(aside)})


def _remove(left: Path, name: str) -> None:
    """Remove what an interrupted initdb has left.  It outlives its caller, because it has a session of its own."""
    deadline = time.monotonic() + REMOVE_SECONDS
    while left.exists() and time.monotonic() < deadline:
        alive = processes.working_in(left, program="initdb") | processes.working_in(left / name, program="postgres")
        for pid in alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not alive:
            shutil.rmtree(left, ignore_errors=True)
        time.sleep(0.01)  # a process that dies between two checks may still create a file


def _initdb(made: Path, programs: Programs, account: HostAccount, access: Access) -> None:
    password = made.parent / "password"  # a real file, because a pipe cannot be opened again after the change of user
    _write_private(password, access.admin_password + "\n")
    account.own(made.parent)
    options = ["--auth=scram-sha-256", f"--pwfile={password}", "-E", "UTF8", "--locale=C", "--data-checksums"]
    account.run([programs.initdb, "-D", str(made), "-U", ADMIN, "--no-sync", *options], cwd=made.parent)
    password.unlink()
    since = "".join(line for major, line in SETTINGS_SINCE.items() if programs.major >= major)
    with (made / "postgresql.conf").open("a") as conf:
        conf.write(SETTINGS + since)
    create = (f"CREATE ROLE {ROLE} LOGIN;", f"CREATE DATABASE {DATABASE};")
    _single_user(made, programs, account, "\n".join((*create, _passwords(access))))


def _passwords(access: Access) -> str:
    return (
        f"ALTER ROLE {ADMIN} PASSWORD '{access.admin_password}';\n"
        f"ALTER ROLE {ROLE} PASSWORD '{access.password}';\n"
        f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC;\n"
    )


def _single_user(data: Path, programs: Programs, account: HostAccount, statements: str) -> None:
    # no server, no port, no password: nobody can interfere; and no password in an argument list
    options = ["-c", "exit_on_error=on", "-c", "log_min_messages=error", "-c", "fsync=off"]
    account.run([programs.postgres, "--single", "-D", str(data), *options, "postgres"], cwd=data, text=statements)


def _files(data: Path) -> tuple[Path, Path, Path]:
    """The passwords of the service, the superuser and the owner."""
    service, admin, owner = (data.with_name(f"{data.name}{of}.url") for of in ("", ".admin", ".owner"))
    return service, admin, owner


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def _write_private(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")  # a fixed name, so that a killed writer leaves at most one file
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)
    new.replace(path)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
