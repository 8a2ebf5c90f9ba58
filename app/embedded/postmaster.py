"""The server process of one data directory: find it, start it, stop it, clean up after a killed one."""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg2

from app import processes
from app.embedded.account import HostAccount
from app.embedded.binaries import EmbeddedUnavailable, Programs

PORTS = range(20000, 32000)  # below the kernel's own range, where an outgoing connection could take our port
PORT_TRIES = 100
LOG_BYTES = 4 * 1024 * 1024  # size of the log, and of its one copy
STOP_SECONDS = 30.0
CONNECT_SECONDS = 3
POLL_SECONDS = 0.01
# Settings that the manager relies on; the command line takes precedence over any file in the data directory
FIXED = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "logging_collector": "off",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
}
# Safe when the server is killed, but not when the machine crashes
FAST = {"fsync": "off", "full_page_writes": "off", "wal_level": "minimal", "max_wal_senders": "0"}
PORT_LINE = 3  # lines of postmaster.pid

_children: list[subprocess.Popen[bytes]] = []


@atexit.register
def _leave_running() -> None:
    for child in _children:
        child.returncode = 0  # otherwise Popen warns that it still runs, which is intended


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A running server of the data directory.  port: None until it has written it."""

    pid: int
    port: int | None


def find(data: Path) -> Postmaster | None:
    """Find the server of this data directory, whoever started it.

    The pid in `postmaster.pid` may be of an ended process, a zombie, another program, or, in a copied home, the server
    of the original.  Only a live process with this very working directory counts.
    """
    _reap()
    lines = _pid_file(data)
    pid = int(lines[0]) if lines and lines[0].isdecimal() else 0
    if not pid or not processes.alive(pid) or not processes.works_in(pid, data):
        return None
    return Postmaster(pid, int(lines[PORT_LINE]) if lines[PORT_LINE:] and lines[PORT_LINE].isdecimal() else None)


def clear(data: Path) -> None:
    """Remove the remains of a killed server: its pid file and those of its processes that still use its memory.

    The caller holds the home's lock and has found no server.
    """
    for pid in processes.working_in(data, program="postgres"):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)  # as the postmaster itself does after a crash
    (data / "postmaster.pid").unlink(missing_ok=True)


def spawn(data: Path, programs: Programs, account: HostAccount, *, port: int, durable: bool) -> subprocess.Popen[bytes]:
    """Start the server; it outlives this process, its terminal and its parents."""
    settings = FIXED | ({} if durable else FAST)
    options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
    with log_file(data).open("ab", buffering=0) as out:  # appending, so that trim_log can cut it under the server
        child = account.spawn([programs.postgres, "-D", str(data), "-p", str(port), *options], cwd=data, out=out)
    _children.append(child)
    return child


def stop(data: Path) -> bool:
    """Shut the server down (fast: sessions are cut, nothing is lost); False if none runs.

    Raises: EmbeddedUnavailable.
    """
    server = find(data)
    if server is None:
        return False
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    while processes.alive(server.pid):
        if time.monotonic() > deadline:
            raise EmbeddedUnavailable(f"the server of {data} (process {server.pid}) did not stop in {STOP_SECONDS} s")
        time.sleep(POLL_SECONDS)
    _reap()
    return True


def is_durable(admin_url: str) -> bool:
    """Connect and ask whether commits reach the disk.  Raises: psycopg2.OperationalError if no server answers."""
    # by scram only: another program on our port must not receive the password
    connection = psycopg2.connect(admin_url, connect_timeout=CONNECT_SECONDS, require_auth="scram-sha-256")
    with closing(connection), connection.cursor() as cursor:
        cursor.execute("SHOW fsync")
        return bool(cursor.fetchone() == ("on",))


def free_port(wanted: int | None = None) -> int:
    """Choose a free port of 127.0.0.1, `wanted` if possible."""
    others = secrets.SystemRandom().sample(PORTS, PORT_TRIES)
    for port in others if wanted is None else (wanted, *others):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: TIME_WAIT is free
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    raise EmbeddedUnavailable(f"no free port of 127.0.0.1 among {PORT_TRIES} tried of {PORTS.start}-{PORTS.stop}")


def log_file(data: Path) -> Path:
    """The path of the server's log."""
    return data.with_name(f"{data.name}.log")


def trim_log(data: Path) -> None:
    """Keep the log below LOG_BYTES, with one copy of the earlier part; the server keeps writing to the same file."""
    path = log_file(data)
    path.touch(mode=0o600)
    if path.stat().st_size > LOG_BYTES:
        shutil.copyfile(path, kept := path.with_name(f"{path.name}.1"))
        kept.chmod(0o600)
        os.truncate(path, 0)


def complaints(data: Path, *, since: int) -> str:
    """Read the server's messages from a byte of its log on, without times and process numbers."""
    with log_file(data).open("rb") as said:
        said.seek(since)
        return re.sub(r"(?m)^[-\d]+ [:.\d]+ \w+ \[\d+\] ", "", said.read(4000).decode(errors="replace")).strip()


def _pid_file(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def _reap() -> None:
    """Reap servers that we started and that ended; otherwise they would stay zombies for as long as we live."""
    _children[:] = [child for child in _children if child.poll() is None]
