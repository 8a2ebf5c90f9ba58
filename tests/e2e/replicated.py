"""The application in this process on a primary and its replica, both of which log every statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from durable_harness.postgres import PostgresServer
from durable_harness.standby import query
from durable_harness.waiting import wait_for
from service_harness.application import POLICY, SETTINGS, Web, resolve
from sqlalchemy.engine import make_url

from app import process_metrics
from app.migrate import migrate
from app.store.core import schema
from app.store.core.connections import make_engine
from app.store.core.replica import Replica
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core.wiring import WebWiring
from tests.conftest import publishing
from tests.e2e.pair import Pair

#: Replayed up to what the primary has written.
REPLAYED = "SELECT pg_last_wal_replay_lsn() >= %s"
SECRET = "the-secret-key-of-this-test-alone"


class Elapsed:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds

    def pass_by(self, seconds: float = 60.0) -> None:
        self.seconds += seconds


@dataclass
class Replicated:
    """web: reads from the replica; alone: reads from the primary only; elapsed: of the replica's pauses."""

    pair: Pair
    web: Web
    alone: Web
    elapsed: Elapsed
    engines: list[Any] = field(default_factory=list)

    @classmethod
    @contextmanager
    def streaming(cls, **settings: str) -> Iterator[Replicated]:
        """A migrated pair.  settings: of both servers."""
        with (
            Pair.streaming("as libpq", log_statement="all", **settings) as pair,
            pytest.MonkeyPatch.context() as patch,
        ):
            # whatever the servers write by themselves may take a busy machine longer than 62 ms
            patch.setattr("app.store.core.needs.PAUSES", (0.1,) * 30)
            elapsed = Elapsed()
            uow = UnitOfWork(make_engine(address(pair.primary), pool_size=12), publishing())
            migrate(uow.engine)
            made = cls(pair, alone := web_on(uow), alone, elapsed, [uow.engine])
            made.web = made.another_web()
            try:
                yield made
            finally:
                for engine in made.engines:
                    engine.dispose()

    @property
    def replica(self) -> Replica:
        """The replica as the web of this test sees it."""
        found = self.web.uow.replica
        assert found is not None
        return found

    def another_web(
        self,
        server: PostgresServer | None = None,
        *,
        needed: str | None = None,
        port: int | None = None,
        statement_seconds: float = SETTINGS.statement_timeout.total_seconds(),
    ) -> Web:
        """A web process with a view of its own of the replica.

        server: in the place of the standby; port: of a proxy before it; statement_seconds: as of make_engine.
        """
        url = make_url(address(server or self.pair.standby))
        url = url.set(port=port or url.port)
        engine = make_engine(
            url.render_as_string(hide_password=False),
            pool_size=12,
            overflow=0,
            is_replica=True,
            statement_seconds=statement_seconds,
        )
        self.engines.append(engine)
        of = Replica(engine, needed or schema.needed(), elapsed=self.elapsed)
        return web_on(replace(self.alone.uow, replica=of))

    def web_on_primary(self, server: PostgresServer) -> Web:
        """A web of another primary, with the same replica."""
        return web_on(UnitOfWork(make_engine(address(server)), publishing(), replica=self.replica))

    def caught_up(self) -> None:
        """Wait until the replica has everything."""
        [(written,)] = query(self.pair.primary, "SELECT pg_current_wal_insert_lsn()")
        wait_for(lambda: query(self.pair.standby, REPLAYED, written) == [(True,)], "the replica to have it")

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """The replica replays nothing in the block, and everything after it."""
        self.caught_up()
        query(self.pair.standby, "SELECT pg_wal_replay_pause()")
        wait_for(
            lambda: query(self.pair.standby, "SELECT pg_get_wal_replay_pause_state()") == [("paused",)], "the pause"
        )
        try:
            yield
        finally:
            query(self.pair.standby, "SELECT pg_wal_replay_resume()")
            self.caught_up()

    def completed(self, name: str = "shop", headers: Mapping[str, str] | None = None) -> str:
        """A completed job; of a new user unless given."""
        job: str = self.web.submit(name, dict(headers or self.web.token()), commit=uuid4().hex + "1" * 8).json["id"]
        self.web.completed(job)
        return job


def web_on(uow: UnitOfWork) -> Web:
    return Web(create_app(WebWiring(SETTINGS, uow, POLICY, resolve, SECRET)), uow)


@contextmanager
def reasons() -> Iterator[Counter[str]]:
    """Count the reasons why the primary answered in the block; `none`: the replica did."""
    before, found = _counted(), Counter[str]()
    yield found
    found.update(_counted() - before)


def _counted() -> Counter[str]:
    [family] = process_metrics.replica_reads.collect()
    return Counter({one.labels["reason"]: int(one.value) for one in family.samples if one.name.endswith("_total")})


@contextmanager
def statements(server: PostgresServer) -> Iterator[list[str]]:
    """The lines that the server logs in the block."""
    log, found = Path(server.home) / "log", list[str]()
    before = log.stat().st_size
    yield found
    with log.open() as lines:
        lines.seek(before)
        found.extend(lines)


def address(server: PostgresServer) -> str:
    return server.url().replace("postgresql:", "postgresql+psycopg2:", 1)
