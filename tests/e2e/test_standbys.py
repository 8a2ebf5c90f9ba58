"""A web that reaches only a standby, and a primary whose synchronous standby has gone."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from durable_harness.postgres import PostgresServer
from durable_harness.standby import Copy, query
from durable_harness.waiting import wait_for

from app.domain.plans import Tier
from app.migrate import migrate
from app.services.accounts.tokens import add_token
from tests.e2e.pages import blocks, statements
from tests.e2e.pair import Pair
from tests.e2e.service import Service, prepare, world_of
from tests.e2e.webs import Web
from tests.nodes import Nodes

pytestmark = pytest.mark.proof

PAGE, PASSWORD = "high-availability.md", "the-password-of-the-replicator"
READS = (
    "/", "/explore", "/analyses/{job}", "/api/v1/analyses/{job}", "/api/v1/analyses/{job}/tests", "/api/v1/me/history",
    "/api/v1/usage", "/metrics",
)  # fmt: skip
#: Replayed up to what the primary has written.
BEHIND = "SELECT pg_wal_lsn_diff(%s, pg_last_wal_replay_lsn())"
#: Sessions whose commit waits for a standby.
WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


@pytest.fixture
def pair() -> Iterator[Pair]:
    with Pair.streaming("as libpq") as made:
        yield made


def test_a_web_that_reaches_only_a_standby_answers_reads_and_writes_again_after_the_promotion(
    pair: Pair, tmp_path: Path
) -> None:
    world = world_of(pair.primary.url())
    migrate(world.uow.engine)
    user = world.user(Tier.PRO)
    token = add_token(world.uow, user, now=world.now).secret
    delivery = world.running(user)
    world.finish(delivery, user, ())
    world.uow.engine.dispose()
    [(written,)] = query(pair.primary, "SELECT pg_current_wal_lsn()")
    wait_for(lambda: query(pair.standby, BEHIND, written) <= [(0,)], "the standby to have it")
    pair.primary.kill()
    headers = {"Authorization": f"Bearer {token}"}
    with Nodes.open(pair.standby.url(), tmp_path) as nodes:
        reading = Web(nodes, tmp_path, token)
        strict = Web(nodes, tmp_path, token, DATABASE_URL=pair.url)
        with httpx.Client(headers=headers, timeout=60, trust_env=False) as client:
            ready = client.get(f"{reading.url}/readyz")
            assert (ready.status_code, ready.json()["writes"]) == (200, False)
            found = {path: client.get(reading.url + path.format(job=delivery.job_id)).status_code for path in READS}
            assert found == dict.fromkeys(READS, 200)
            given = {"repository": "acme/shop", "commit": "1" * 40}
            assert client.post(f"{reading.url}/api/v1/analyses", json=given).status_code == 503
            assert client.get(f"{strict.url}/readyz").status_code == 503
            assert client.get(f"{strict.url}/api/v1/analyses/{delivery.job_id}").status_code == 503
            pair.take_over()
            for web in (reading, strict):
                wait_for(lambda web=web: writes(client, web), "writes to be accepted")
                given["commit"] = uuid4().hex + "1" * 8
                wait_for(lambda web=web: accepts(client, web, given), "the web to know it")


def accepts(client: httpx.Client, web: Web, given: dict[str, str]) -> bool:
    """Also a refusal knows a database that was read-only for two more seconds."""
    answer = client.post(f"{web.url}/api/v1/analyses", json=given)
    assert answer.status_code in (202, 503), answer.text
    return answer.status_code == 202


def writes(client: httpx.Client, web: Web) -> bool:
    return client.get(f"{web.url}/readyz?writes=1").status_code == 200


def test_while_a_synchronous_standby_is_away_reads_are_answered_and_writes_wait_for_it(
    pair: Pair, repository: Callable[..., Path], tmp_path: Path
) -> None:
    prepare(pair.url)
    pair.wait_for_standby("FIRST 1 (b)")
    with Service.on(pair.url, tmp_path, repository) as service, service.traffic() as client:
        [job] = wait_for(lambda: service.bills().keys() & {one.job_id for one in client.accepted[:1]}, "a result")
        pair.standby.stop()
        stopped = time.monotonic()
        wait_for(lambda: query(pair.primary, WAITING), "a commit to wait")
        with httpx.Client(headers={"Authorization": f"Bearer {service.token}"}, timeout=60, trust_env=False) as reader:
            for _ in range(3):
                found = {path: reader.get(service.web.url + path.format(job=job)).status_code for path in READS}
                assert found == dict.fromkeys(READS, 200)
            # a commit that has waited for two seconds says so
            wait_for(lambda: not reader.get(f"{service.web.url}/readyz").json()["writes"], "the web to know it")
        assert client.sent_since(stopped) == []
        accepted = len(client.accepted)
        pair.standby.follow()
        wait_for(lambda: len(client.accepted) >= accepted + 3, "jobs to be accepted")
        client.end()
        wait_for(service.is_idle, "every job to end")
        assert service.bills() == {one.job_id: 1 for one in client.accepted}
        assert service.broken() == []


def test_a_standby_is_made_and_promoted_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    role, hosts, commands, look = blocks(PAGE, "A standby")
    on, off = blocks(PAGE, "Synchronous or not")
    primary = PostgresServer()
    made = [primary]

    def seen() -> list[tuple[Any, ...]]:
        return [row[:3] for row in run(primary, look)[0]]

    try:
        (primary.data / "pg_hba.conf").write_text(f"host all postgres 127.0.0.1/32 trust\n{hosts.replace('ssl', '')}")
        primary.start()
        run(primary, role, replicator=PASSWORD)
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        copying, starting = commands.replace("host=a", f"host=127.0.0.1 port={primary.port}").splitlines()
        made.append(standby := Copy(primary, lambda copy: command(copy, copying)))
        command(standby, starting)
        wait_for(lambda: seen() == [("b", "streaming", "async")], "the standby to stream")
        run(primary, on)
        wait_for(lambda: seen() == [("b", "streaming", "sync")], "the standby to be waited for")
        query(primary, "CREATE TABLE kept ()")
        primary.kill()
        standby.promote()
        assert query(standby, "SELECT count(*) FROM kept") == [(0,)]
        assert query(standby, "SHOW synchronous_standby_names") == [("",)]
        run(standby, off)
        query(standby, "CREATE TABLE written ()")
    finally:
        for one in made:
            one.remove()


def run(server: PostgresServer, block: str, **passwords: str) -> list[list[tuple[Any, ...]]]:
    """The rows of each statement of a block."""
    return [query(server, one) for one in statements(block, **passwords)]


def command(server: PostgresServer, line: str) -> None:
    """Run a command of the page as the server's user would type it."""
    server.run_program(
        *shlex.split(line.replace("$PGDATA", str(server.data)) + " --log=/dev/null" * line.startswith("pg_ctl"))
    )
