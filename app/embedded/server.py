"""The embedded PostgreSQL of one home: start it, share it between processes, stop it after the last."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg2

from app.embedded import account as accounts
from app.embedded import binaries as programs_of
from app.embedded import data as cluster_data
from app.embedded import postmaster, roles
from app.embedded.account import HostAccount
from app.embedded.binaries import EmbeddedUnavailable, Programs
from app.embedded.data import Access
from app.private_files import open_private

START_SECONDS = 120.0  # recovery after a crash may need it
RETRY_SECONDS = 20.0  # for temporary problems: a taken port, processes of a killed server
RETRY_PAUSE_SECONDS = 0.1
TRANSIENT = ("could not create any TCP/IP sockets", "pre-existing shared memory block", "lock file")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers.  url: of the service's role; owner_url: of the tables' owner; started: by this call."""

    url: str = field(repr=False)  # it contains a password
    owner_url: str = field(repr=False)
    admin_url: str = field(repr=False)
    data: Path
    version: str
    started: bool


@dataclass(frozen=True, slots=True)
class _Cluster:
    """The context of one call."""

    home: Path
    data: Path
    programs: Programs
    durable: bool
    patience: float


@dataclass(frozen=True, slots=True)
class _Reached:
    """A server that answers."""

    access: Access
    is_durable: bool


def ensure(home: Path, *, durable: bool = True, patience: float = START_SECONDS) -> Server:
    """Make sure that the home's server answers, and return its address; safe to call from many processes at once.

    The server outlives the caller, killed or not; its data is created on the first call.  durable: False only for
    tests, where commits survive the server's death, but not the machine's.  patience: seconds for an existing server
    that does not answer yet (it may be recovering, and continues); a healthy start takes 0.1 s.  Raises:
    EmbeddedUnavailable.
    """
    home = _home(home)
    with _locked(home):
        programs = programs_of.choose(cluster_data.majors(home))
        cluster = _Cluster(home, home / f"pg{programs.major}", programs, durable, patience)
        access = cluster_data.load(cluster.data)
        running = _running(cluster, access)
        reached = running or _start(cluster, access)
        if reached.owner_password is None:
            reached = roles.separate(cluster.data, reached)
        postmaster.trim_log(cluster.data)
    urls = (reached.url(), reached.owner_url(), reached.admin_url())
    url, owner_url, admin_url = (found.replace("://", "+psycopg2://", 1) for found in urls)
    return Server(url, owner_url, admin_url, cluster.data, programs.version, started=running is None)


def stop(home: Path) -> bool:
    """Shut the home's server down, even if it is used; False if none runs.  Raises: EmbeddedUnavailable."""
    if not home.is_dir():
        return False
    home = _home(home)
    with _locked(home):
        return _stop(home)


def passwords(home: Path) -> dict[str, str]:
    """The passwords of all roles of the home's servers, by the name of the file that contains each."""
    found = dict[str, str]()
    for major in cluster_data.majors(home) if home.is_dir() else ():
        if access := cluster_data.load(home / f"pg{major}"):
            own = {"": access.password, "_admin": access.admin_password, "_owner": access.owner_password}
            found |= {f"pg{major}{of}_url": password for of, password in own.items() if password}
    return found


@contextmanager
def hold(home: Path, *, durable: bool = True) -> Iterator[Server]:
    """Use the server; the last process to leave stops it, whichever started it.

    A killed holder no longer holds it, but the server keeps running, because others may use it.  The next holder takes
    it over and stops it at its own end.  Raises: EmbeddedUnavailable.
    """
    home = _home(home)
    with open_private(home / "pg.holders") as holders:
        fcntl.flock(holders, fcntl.LOCK_SH)
        try:
            yield ensure(home, durable=durable)
        finally:
            with _locked(home):
                if _is_last(holders.fileno()):
                    _stop(home)


def _home(home: Path) -> Path:
    """Create the folder.  Root's must let the server's user pass, who can neither list it nor read our files."""
    try:
        home.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedUnavailable(f"cannot create FAIRLANE_HOME {home}: {error.strerror}") from error
    return home.resolve()


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """Hold the home's lock, which ends with the process, however that ends."""
    try:
        lock = open_private(home / "pg.lock")
    except OSError as error:
        raise EmbeddedUnavailable(f"cannot write to FAIRLANE_HOME {home}: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_last(holders: int) -> bool:
    # a new process waits for its shared lock until we have stopped the server, and then starts it again
    try:
        fcntl.flock(holders, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _stop(home: Path) -> bool:
    stopped = [postmaster.stop(home / f"pg{major}") for major in cluster_data.majors(home)]
    return any(stopped)


def _running(cluster: _Cluster, access: Access | None) -> Access | None:
    """Connect to the running server, or make sure that none runs."""
    if postmaster.find(cluster.data) is None:
        return None
    reached = _wait(cluster, access, None) if access else None
    if reached and (reached.is_durable or not cluster.durable):
        return reached.access
    postmaster.stop(cluster.data)  # its passwords are lost, or it is a test's server without durability
    return None


def _start(cluster: _Cluster, access: Access | None) -> Access:
    """Start the server, after creating or repairing its data if needed."""
    account = accounts.choose(cluster.programs, cluster.home, cluster.data)
    access = _data(cluster, account, access)
    deadline = time.monotonic() + RETRY_SECONDS
    while True:
        postmaster.trim_log(cluster.data)
        since = postmaster.log_file(cluster.data).stat().st_size
        port = postmaster.free_port(access.port)
        child = postmaster.spawn(cluster.data, cluster.programs, account, port=port, durable=cluster.durable)
        if (reached := _wait(cluster, access, child)) is not None:
            return reached.access
        why = postmaster.complaints(cluster.data, since=since)
        if time.monotonic() > deadline or not any(reason in why for reason in TRANSIENT):
            file = postmaster.log_file(cluster.data)
            raise EmbeddedUnavailable(f"PostgreSQL does not start: {why or 'no message'} (log: {file})")
        postmaster.clear(cluster.data)
        time.sleep(RETRY_PAUSE_SECONDS)


def _data(cluster: _Cluster, account: HostAccount, access: Access | None) -> Access:
    """Create the data, or repair the existing data; no server runs."""
    if not cluster_data.is_complete(cluster.data):
        port = postmaster.free_port(access.port if access else None)
        return cluster_data.create(cluster.data, cluster.programs, account, port=port, durable=cluster.durable)
    postmaster.clear(cluster.data)
    if cluster.data.stat().st_uid != account.uid:
        account.own(cluster.data)  # the home was moved to where another user runs the server
    return access or cluster_data.renew(cluster.data, cluster.programs, account, port=postmaster.free_port())


def _wait(cluster: _Cluster, access: Access, child: subprocess.Popen[bytes] | None) -> _Reached | None:
    """Wait until the server accepts a connection; None if it ended.  Raises: EmbeddedUnavailable if it hangs."""
    deadline, said = time.monotonic() + cluster.patience, "it does not listen"
    while time.monotonic() < deadline:
        ended = child is None or child.poll() is not None  # asked first: a server found after that is another one
        server = postmaster.find(cluster.data)
        if server is None and ended:
            return None
        if server is not None and server.port is not None:
            try:
                is_durable = postmaster.is_durable(replace(access, port=server.port).admin_url())
            except psycopg2.OperationalError as error:
                said = _explained(cluster, error)
            else:
                return _Reached(cluster_data.moved(cluster.data, access, server.port), is_durable)
        time.sleep(postmaster.POLL_SECONDS)
    raise EmbeddedUnavailable(f"the server of {cluster.data} does not answer within {cluster.patience:.0f} s: {said}")


def _explained(cluster: _Cluster, error: psycopg2.OperationalError) -> str:
    """Explain why the connection failed.  Raises: EmbeddedUnavailable if waiting does not help."""
    if "authentication failed" not in str(error):
        return str(error).strip()
    raise EmbeddedUnavailable(
        f"the passwords in {cluster.data}.url and .admin.url are not those of the server: put the right files back,"
        " or delete both to have new passwords made"
    ) from error
