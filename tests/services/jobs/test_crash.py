"""A server that crashes between two steps of a job: what was not on disk is taken again, and billed once (docs/adr/0002)."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy.engine import make_url

from app import embedded
from app.domain.lifecycle import Outcome
from app.migrate import migrate
from app.services.operations.audit import HOLDS, audit
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, publishing

pytestmark = pytest.mark.proof

#: The process that writes what no commit waits for.
WAL_WRITER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fairlane-crash-"))
    folder.chmod(0o755)  # the server is another user where the tests run as root
    yield folder
    embedded.stop(folder)
    shutil.rmtree(folder)


@pytest.fixture
def fragile(home: Path) -> Iterator[World]:
    """On a server of its own, on which nothing of an asynchronous commit goes to the disk by itself."""
    server = embedded.ensure(home)
    with (
        closing(psycopg2.connect(server.admin_url.replace("+psycopg2", ""))) as connection,
        connection.cursor() as cursor,
    ):
        connection.autocommit = True
        cursor.execute(WAL_WRITER)
        [(pid,)] = cursor.fetchall()
        cursor.execute("ALTER SYSTEM SET autovacuum = off")  # its commits take everything before them to the disk
        cursor.execute("SELECT pg_reload_conf()")
    os.kill(pid, signal.SIGSTOP)  # a crash ends it all the same
    owner = make_engine(server.owner_url)
    migrate(owner, role=str(make_url(server.url).username))
    owner.dispose()
    engine = make_engine(server.url)
    yield World(UnitOfWork(engine, publishing()))
    engine.dispose()
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def crash(home: Path, world: World) -> None:
    """End the server at once, and start it again."""
    server = embedded.ensure(home)
    os.kill(int((server.data / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
    world.uow.engine.dispose()
    again = embedded.ensure(home)
    assert make_url(again.url).port == make_url(server.url).port


def unwritten(world: World) -> bool:
    return bool(world.value("SELECT pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn()"))


def test_a_start_that_was_not_on_disk_is_taken_again_and_its_worker_writes_nothing(home: Path, fragile: World) -> None:
    user = fragile.user()
    job_id = fragile.submit(user)
    first = fragile.lease(job_id)
    assert fragile.start(first, user) is Outcome.STARTED
    assert unwritten(fragile)
    crash(home, fragile)
    assert fragile.value("SELECT count(*) FROM analyses") == 0
    assert fragile.value("SELECT count(*) FROM execution_slots") == 0
    assert fragile.finish(first, user) is Outcome.STALE
    second = fragile.lease(job_id)
    assert fragile.start(second, user) is Outcome.STARTED
    assert fragile.finish(second, user) is Outcome.COMPLETED
    assert fragile.value("SELECT count(*) FROM usage_events") == 1
    assert [finding for finding in audit(fragile.uow) if finding.status != HOLDS] == []


def test_a_finish_is_on_disk_when_it_returns_and_so_is_all_before_it(home: Path, fragile: World) -> None:
    user = fragile.user()
    job_id = fragile.submit(user)
    delivery = fragile.lease(job_id)
    fragile.start(delivery, user)
    assert fragile.finish(delivery, user) is Outcome.COMPLETED
    crash(home, fragile)
    events = [row["event"] for row in fragile.rows("SELECT event FROM job_events ORDER BY id")]
    assert events == ["accepted", "started", "completed"]
    assert fragile.value("SELECT count(*) FROM usage_events") == 1
    assert fragile.value("SELECT count(*) FROM kombu_message") == 0
