"""A database that is reached by the second of two hosts, the first of which refuses: every program of the service works."""

import subprocess
import sys
from pathlib import Path

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy.engine import make_url

from app.domain.plans import Tier
from app.settings import load
from app.store.core.connections import make_engine
from tests.conftest import raw_connection
from tests.e2e.conftest import System
from tests.e2e.webs import Web
from tests.nodes import ROOT, Nodes
from tests.tiers import few


@pytest.fixture
def several(database_url: str, free_port: int) -> dict[str, str]:
    """DATABASE_URL as libpq writes it."""
    url = make_url(database_url)
    place = f"127.0.0.1:{free_port},{url.host}:{url.port}"
    given = f"postgresql://{url.username}:{url.password}@{place}/{url.database}?target_session_attrs=read-write"
    return {"DATABASE_URL": given, "DATABASE_DIRECT_URL": given}


@pytest.mark.proof
def test_a_worker_listens_and_a_web_answers_and_a_job_completes(
    system: System, several: dict[str, str], tmp_path: Path
) -> None:
    system.nodes.worker(**several)
    job_id = system.submit(system.user(Tier.FREE), "shop")
    system.wait(job_id, "completed")
    web = Web(system.nodes, tmp_path, "", **several)
    wait_for(lambda: web.ask("/readyz?writes=1")["writes"], "the web to be ready")


@pytest.mark.parametrize(
    "argv", few(1, [["app.cli", "queues"], ["app.cli", "migrate"], ["alembic", "current"]]), ids=" ".join
)
def test_commands_and_migrations_work(nodes: Nodes, several: dict[str, str], argv: list[str]) -> None:
    command = [sys.executable, "-m", *argv]
    done = subprocess.run(command, cwd=ROOT, env=nodes.environment(**several), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_lost_session_is_opened_again(several: dict[str, str], database_url: str) -> None:
    address = load(several).database_url
    assert address is not None
    engine = make_engine(address.get_secret_value(), pool_size=1)
    with engine.connect() as connection:
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    with raw_connection(database_url) as other:
        other.exec_driver_sql(f"SELECT pg_terminate_backend({pid}, 60000)")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one() != pid
    engine.dispose()
