"""A server made as docs/postgresql.md says, with an owner and an application's role that have passwords."""

from __future__ import annotations

from dataclasses import dataclass

from durable_harness.postgres import PostgresServer
from durable_harness.standby import query
from sqlalchemy import create_engine, pool

from app.migrate import migrate
from tests.e2e.pages import blocks, statements

PAGE = "postgresql.md"
OWNER, APP = "the-password-of-the-owner", "the-password-of-the-application"
#: For the tests themselves.
HBA = "host all postgres 127.0.0.1/32 trust\n"


@dataclass
class OwnServer:
    """The database `fairlane`.  hba: who may sign in; host: as clients call it; parameters: of each address."""

    server: PostgresServer
    hba: str
    host: str = "127.0.0.1"
    parameters: str = ""

    def begin(self) -> None:
        """Start, and make the roles as the page says."""
        (self.server.data / "pg_hba.conf").write_text(HBA + self.hba)
        self.server.start()
        [block, *_] = blocks(PAGE, "Two roles")
        self.run(block, fairlane_owner=OWNER, fairlane_app=APP)

    def run(self, block: str, **passwords: str) -> list[list[tuple[object, ...]]]:
        """Run the statements of a block as a superuser; -> the rows of each."""
        return [query(self.server, one) for one in statements(block, **passwords)]

    def url(self, role: str = "fairlane_app", password: str = APP, host: str | None = None) -> str:
        return f"postgresql://{role}:{password}@{host or self.host}:{self.server.port}/fairlane{self.parameters}"

    def owner_url(self) -> str:
        return self.url("fairlane_owner", OWNER)

    def seen(self) -> str:
        """The address of the tests themselves, whatever becomes of the roles."""
        return self.server.url("fairlane")

    def migrate(self) -> None:
        """Migrate as the owner, and give the application's role its rights."""
        url = self.owner_url().replace("postgresql:", "postgresql+psycopg2:", 1)
        migrate(create_engine(url, poolclass=pool.NullPool), role="fairlane_app")
