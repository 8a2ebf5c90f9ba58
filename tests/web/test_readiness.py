"""`/readyz` of a database that answers questions and takes no writes, and `/healthz` of one that says nothing."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from service_harness.application import Web
from sqlalchemy import text

from app import embedded
from app.server import bridge
from app.server.bridge import Bridge
from app.services.operations import readiness
from app.version import VERSION
from tests.conftest import raw_connection
from tests.web.test_bridge import Application, fill, play, sent

Refuse = Callable[[str], None]


@pytest.fixture
def refuse(web: Web, server: embedded.Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Refuse]:
    """Change a setting of the database for new sessions, until the test is over."""
    monkeypatch.setattr(readiness, "WRITES_SECONDS", 0.0)
    with web.uow.begin() as tx:
        name = tx.run(text("SELECT current_database()")).scalar_one()

    def change(setting: str) -> None:
        with raw_connection(server.admin_url) as admin:  # some settings are the superuser's
            admin.execution_options(isolation_level="AUTOCOMMIT").execute(text(f"ALTER DATABASE {name} {setting}"))
        web.uow.engine.dispose()

    yield change
    change("RESET ALL")


def test_a_database_that_is_read_only_is_ready_for_reads_and_not_for_writes(web: Web, refuse: Refuse) -> None:
    refuse("SET default_transaction_read_only = on")
    answer = web.client.get("/readyz")
    assert (answer.status_code, answer.json["writes"], answer.json["checks"]["writes"]) == (200, False, "read-only")
    answer = web.client.get("/readyz?writes=1")
    assert (answer.status_code, answer.json["checks"]["writes"]) == (503, "read-only")
    assert answer.headers["Retry-After"] == "2"


def test_a_disk_that_takes_no_more_is_ready_for_reads_and_not_for_writes(web: Web, refuse: Refuse) -> None:
    refuse("SET temp_file_limit = '64kB'")
    assert web.client.get("/readyz").json["writes"] is False
    answer = web.client.get("/readyz?writes=1")
    assert answer.status_code == 503
    assert answer.json["checks"]["writes"] == "cannot be written to (OperationalError, 53400)"
    assert answer.json["checks"]["database"] == "ok"


def test_the_write_is_made_once_in_a_while_only(web: Web, refuse: Refuse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "WRITES_SECONDS", 600.0)
    assert web.client.get("/readyz?writes=1").status_code == 200
    refuse("SET default_transaction_read_only = on")
    assert web.client.get("/readyz?writes=1").status_code == 200


def test_another_value_of_writes_is_refused(web: Web) -> None:
    answer = web.client.get("/readyz?writes=yes")
    assert (answer.status_code, answer.json["errors"][0]["detail"]) == (422, "expected 0 or 1")


def test_health_and_the_document_tell_the_version(web: Web) -> None:
    assert web.client.get("/healthz").json == {"status": "ok", "version": VERSION}
    assert web.client.get("/api/v1/openapi.json").json["info"]["version"] == VERSION


def test_a_schema_that_has_left_this_release_behind_is_told_by_versions(web: Web) -> None:
    with web.uow.begin() as tx:
        tx.run(text("UPDATE alembic_version SET version_num = '9998'"))
        tx.run(text("UPDATE schema_support SET version = '99.1.0', oldest_version = '99.0.0'"))
    answer = web.client.get("/readyz")
    told = f"this release {VERSION} is too old for the schema of 99.1.0; the oldest that works is 99.0.0"
    assert (answer.status_code, answer.json["checks"]["migrations"]) == (503, told)


def test_health_does_not_wait_behind_a_database_for_which_readiness_waits() -> None:
    async def scene(server: Bridge, app: Application) -> None:
        begun = await fill(server, app, ("GET", bridge.READY_PATH), bridge.HEALTH_THREADS[bridge.READY_PATH])
        health = sent(("GET", "/healthz"), "192.0.2.1").begin(server)
        await asyncio.to_thread(app.busy.acquire)  # it has a thread
        app.may.set()
        assert {status for status, _ in await asyncio.gather(health, *begun)} == {200}

    play(scene)
