"""The service behind PgBouncer in transaction mode: web, workers and beat, with the way past it for locks alone."""

from collections.abc import Callable, Iterator

import pytest
from durable_harness.pgbouncer import PROGRAM, PgBouncer
from durable_harness.waiting import wait_for
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from app.store.core.connections import LIMITS, make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World
from tests.e2e.conftest import System

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="needs pgbouncer: apt-get install pgbouncer (the service itself may stay off)"
)
SHOWN = ", ".join(f"current_setting('{name}')" for name in LIMITS)
Pooled = Callable[..., str]


@pytest.fixture
def pooled(database_url: str) -> Iterator[Pooled]:
    """The test's database through a pooler; ignores: start-up parameters that it drops instead of refusing."""
    url = make_url(database_url)
    made: list[PgBouncer] = []

    def start(ignores: str = "", size: int = 4) -> str:
        login = (str(url.username), str(url.password))
        made.append(PgBouncer(int(url.port or 0), size=size, login=login, ignores=ignores, database=str(url.database)))
        made[-1].start()
        return made[-1].url(str(url.database))

    yield start
    for one in made:
        one.remove()


@pytest.mark.proof
@pytest.mark.parametrize("ignores", ["", "options", "extra_float_digits,options"])
def test_transactions_have_their_limits_whatever_the_pooler_makes_of_the_wish(pooled: Pooled, ignores: str) -> None:
    url = pooled(ignores, 1)
    engine = make_engine(url.replace("postgresql:", "postgresql+psycopg2:"), pool_size=1, statement_seconds=7)
    uow = UnitOfWork(engine)
    with uow.begin() as tx:
        tx.run(text("SELECT 1"))
        assert tuple(tx.run(text(f"SELECT {SHOWN}")).one()) == tuple(LIMITS.values())
    with uow.once() as tx:
        assert tuple(tx.run(text(f"SELECT {SHOWN}")).one()) == tuple(LIMITS.values())
    with uow.once() as tx:
        assert tx.run(text("SHOW statement_timeout")).scalar_one() == "7s"
    engine.dispose()
    assert in_the_session_of_all(url) != tuple(LIMITS.values())


def test_without_a_pooler_the_session_has_them_and_no_transaction_sends_them(world: World) -> None:
    with world.uow.once() as tx:
        assert tuple(tx.run(text(f"SELECT {SHOWN}")).one()) == tuple(LIMITS.values())


@pytest.mark.parametrize("given", ["with the same login", "without a login"])
@pytest.mark.proof
def test_web_workers_and_beat_work_behind_it(system: System, pooled: Pooled, given: str) -> None:
    direct = make_url(system.nodes.database_url)
    if given == "without a login":
        direct = direct._replace(username=None, password=None)
    through = {
        "DATABASE_URL": pooled("options"),
        "DATABASE_DIRECT_URL": direct.set(drivername="postgresql").render_as_string(hide_password=False),
    }
    job_id = system.submit(system.user())
    beats = [system.nodes.beat(**through) for _ in range(2)]
    wait_for(lambda: system.world.rows("SELECT 1 FROM schedule_runs OFFSET 1"), "what beat sends")
    assert sum("beat_leads" in beat.logs() for beat in beats) == 1
    worker = system.nodes.worker("analysis_default", "analysis_scheduled", "maintenance", **through)
    job = system.wait(job_id, "completed", "failed")
    assert (job["status"], job["attempt"]) == ("completed", 1)
    wait_for(lambda: not system.world.rows("SELECT 1 FROM kombu_message"), "the maintenance to be done")
    assert system.world.value("SELECT count(*) FROM kombu_dead_letter") == 0
    worker.kill(signal="SIGTERM")
    assert worker.container.wait() == 0


def in_the_session_of_all(url: str) -> tuple[object, ...]:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg2:"))
    with engine.connect() as connection:
        found = tuple(connection.execute(text(f"SELECT {SHOWN}")).one())
    engine.dispose()
    return found
