"""A PostgreSQL server that asks for passwords, reached by IPv4, by IPv6 and by a socket."""

import subprocess
from pathlib import Path
from urllib.parse import quote

from durable_harness.postgres import PostgresServer

#: What a URL can get wrong.  The first letters are looked for where no password may be.
PASSWORD = "hush@:/%#?&=;+ 'ü€"
HBA = """
local all postgres trust
host all postgres 127.0.0.1/32 trust
host all guest all trust
local all all scram-sha-256
host all all all scram-sha-256
"""


class StrictServer(PostgresServer):
    """User `painter` has the password, `guest` has none."""

    def __init__(self) -> None:
        super().__init__()
        with (self.data / "postgresql.conf").open("a") as conf:
            conf.write(f"listen_addresses = '127.0.0.1,::1'\nunix_socket_directories = '{self.home}'\n")
        (self.data / "pg_hba.conf").write_text(HBA)

    def login(self, password: str = PASSWORD) -> str:
        return f"painter:{quote(password, safe='')}"


def certificate(folder: Path) -> tuple[Path, Path]:
    """-> certificate of localhost, signed by itself, and its key."""
    crt, key = folder / "crt", folder / "key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", key, "-out", crt, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    return crt, key
