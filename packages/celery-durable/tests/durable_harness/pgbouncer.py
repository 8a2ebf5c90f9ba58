"""A pgbouncer of its own in front of a test server."""

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import psycopg2

from durable_harness.postgres import _account, _free_port
from durable_harness.waiting import wait_for

#: Debian has it where only root's PATH looks.
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
CONFIG = """
[databases]
* = host=127.0.0.1 port={server} {user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
{auth}
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
"""


class PgBouncer:
    """Transaction mode, `size` connections to each database, for anybody; with `login`, for this user and password.

    ignores: what clients ask for when they connect and do not get; the rest that is unknown to it, it refuses.
    """

    def __init__(
        self,
        server_port: int,
        *,
        size: int,
        login: tuple[str, str] | None = None,
        ignores: str = "",
        database: str = "postgres",
    ) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="broker-bouncer-"))
        self.home.chmod(0o755)
        self.port = _free_port()
        self._database = database
        self._user, self._password = login or ("postgres", "")
        self._settings = {"server": server_port, "port": self.port, "size": size}
        if login:
            users = self.home / "users"
            users.write_text(f'"{self._user}" "{self._password}"\n')
            users.chmod(0o644)
            self._settings |= {"user": "", "auth": f"auth_type = scram-sha-256\nauth_file = {users}"}
        else:
            self._settings |= {"user": "user=postgres", "auth": "auth_type = any"}
        self._settings["auth"] += f"\nignore_startup_parameters = {ignores}" if ignores else ""

    def start(self) -> None:
        """-> when it answers."""
        config = self.home / "ini"
        config.write_text(CONFIG.format(**self._settings))
        with (self.home / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [str(PROGRAM), "-q", config], cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                user=_account(), extra_groups=None if _account() is None else [],
            )  # fmt: skip
        wait_for(self._answers)

    def url(self, database: str) -> str:
        return f"postgresql://{self._user}:{self._password}@127.0.0.1:{self.port}/{database}"

    def remove(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def _answers(self) -> bool:
        with suppress(psycopg2.OperationalError):
            psycopg2.connect(self.url(self._database)).close()
            return True
        return False
