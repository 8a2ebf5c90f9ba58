"""A pgbouncer of its own in front of a test server."""

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import psycopg2

from tests.broker.conftest import wait_for
from tests.broker.postgres import PostgresServer, _account, _free_port

#: Debian has it where only root's PATH looks.
PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
CONFIG = """
[databases]
* = host=127.0.0.1 port={server} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
"""


class PgBouncer:
    """Transaction mode, `size` connections to each database, for anybody."""

    def __init__(self, server: PostgresServer, *, size: int) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="broker-bouncer-"))
        self.home.chmod(0o755)
        self.port = _free_port()
        self._server, self._size = server, size

    def start(self) -> None:
        """-> when it answers."""
        config = self.home / "ini"
        config.write_text(CONFIG.format(server=self._server.port, port=self.port, size=self._size))
        with (self.home / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [str(PROGRAM), "-q", config], cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                user=_account(), extra_groups=None if _account() is None else [],
            )  # fmt: skip
        wait_for(self._answers)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def remove(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def _answers(self) -> bool:
        with suppress(psycopg2.OperationalError):
            psycopg2.connect(self.url("postgres")).close()
            return True
        return False
