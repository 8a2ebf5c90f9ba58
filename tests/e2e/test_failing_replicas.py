"""A replica that dies, is promoted, belongs to another service or is of an earlier schema: the primary answers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from durable_harness.postgres import PostgresServer
from durable_harness.proxy import Proxy
from durable_harness.standby import Standby, query
from durable_harness.waiting import wait_for
from service_harness.application import Web
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.store.core import reading, schema
from app.store.core.unit_of_work import Tx
from tests.e2e.replicated import Replicated, reasons
from tests.e2e.test_doctor import doctor
from tests.e2e.webs import Web as Process
from tests.nodes import Nodes

pytestmark = pytest.mark.proof

REPOSITORY = "/api/v1/repositories/github.com/acme/shop"


@pytest.fixture(scope="module")
def servers() -> Iterator[Replicated]:
    with Replicated.streaming(max_standby_streaming_delay="0") as made:
        yield made


@pytest.fixture
def pair(servers: Replicated) -> Replicated:
    """Servers for tests that leave them as they are; nothing is left alone any more."""
    servers.elapsed.pass_by()
    return servers


@pytest.fixture
def doomed() -> Iterator[Replicated]:
    """Servers for a test that ends one of them for good."""
    with Replicated.streaming() as made:
        yield made


def reads(web: Web, job: str, headers: dict[str, str]) -> list[Any]:
    """What a completed job, a list and one's own history say."""
    tests = web.client.get(f"/api/v1/analyses/{job}/tests", headers=headers)
    history = web.client.get("/api/v1/me/history", headers=headers)
    explored = web.client.get("/explore")
    assert [one.status_code for one in (tests, history, explored)] == [200, 200, 200]
    return [len(tests.json["items"]), [one["status"] for one in history.json["items"]], "acme/shop" in explored.text]


def lengthen_log(server: PostgresServer) -> None:
    """Let the server's log be longer than those of others."""
    for _ in range(5):
        query(server, "SELECT pg_logical_emit_message(true, 'fairlane', 'x')")
        query(server, "SELECT pg_switch_wal()")


@contextmanager
def standing(server: PostgresServer) -> Iterator[None]:
    """The server's processes are stopped in the block: its system accepts connections, and nothing answers."""
    postmaster = psutil.Process(int((server.data / "postmaster.pid").read_text().split()[0]))
    processes = (postmaster, *postmaster.children(recursive=True))
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


@contextmanager
def behind_proxy(pair: Replicated, **limits: float) -> Iterator[tuple[Proxy, Web]]:
    """A web whose replica is behind a proxy.  limits: of its engine."""
    proxy = Proxy(pair.pair.standby.port)
    proxy.start()
    try:
        yield proxy, pair.another_web(port=proxy.port, **limits)
    finally:
        proxy.thaw()
        proxy.close()


RIGHT = [3, ["completed"], True]


@contextmanager
def readers(pair: Replicated, job: str, headers: dict[str, str]) -> Iterator[Counter[str]]:
    """Four clients that read all the time in the block; -> how many of their answers were right."""
    answers, ended = Counter[str](), threading.Event()

    def read() -> None:
        web = Web(pair.web.app, pair.web.uow)
        while not ended.is_set():
            answers["right" if reads(web, job, headers) == RIGHT else "wrong"] += 1

    threads = [threading.Thread(target=read) for _ in range(4)]
    for one in threads:
        one.start()
    try:
        yield answers
    finally:
        ended.set()
        for one in threads:
            one.join(60)


def test_a_replica_that_is_killed_under_requests_costs_nobody_an_answer(pair: Replicated) -> None:
    headers = pair.web.token()
    job = pair.completed(headers=headers)
    pair.caught_up()
    with reasons() as with_it, readers(pair, job, headers) as answers:
        wait_for(lambda: answers["right"] >= 8, "reads")
        pair.pair.standby.kill()
        with reasons() as without:
            seen = answers["right"]
            wait_for(lambda: answers["right"] >= seen + 16, "reads without it")
    assert answers.keys() == {"right"}
    assert with_it["none"] > 0
    assert without["away"] > without["none"]  # of those that were under way
    assert pair.replica.fault is not None
    assert pair.replica.fault.startswith("it does not answer")
    pair.pair.standby.follow()
    pair.caught_up()
    pair.elapsed.pass_by()
    with reasons() as found:
        assert reads(pair.web, job, headers) == RIGHT
    assert found.keys() == {"none"}
    assert pair.replica.fault is None


def test_a_replica_that_stands_still_under_requests_costs_nobody_an_answer(pair: Replicated) -> None:
    headers = pair.web.token()
    job = pair.completed(headers=headers)
    pair.caught_up()
    with reasons() as with_it, readers(pair, job, headers) as answers:
        wait_for(lambda: answers["right"] >= 8, "reads")
        with standing(pair.pair.standby), reasons() as without:
            seen = answers["right"]
            wait_for(lambda: answers["right"] >= seen + 8, "reads without it")
            fault = pair.replica.fault
            pair.replica.engine.dispose()
            pair.elapsed.pass_by()  # one read tries it again, and opens a connection
            wait_for(lambda: answers["right"] >= seen + 16, "reads after that")
    assert answers.keys() == {"right"}
    assert with_it["none"] > 0
    assert without["away"] > without["none"]  # of those that were under way
    assert fault is not None
    assert fault.startswith("it does not answer")
    pair.caught_up()
    pair.elapsed.pass_by()
    assert reads(pair.web, job, headers) == RIGHT
    assert pair.replica.fault is None


def test_a_network_that_swallows_the_answer_of_a_replica_costs_a_few_seconds(pair: Replicated) -> None:
    headers = pair.web.token()
    job = pair.completed(headers=headers)
    pair.caught_up()
    with behind_proxy(pair) as (proxy, web):
        assert reads(web, job, headers) == RIGHT
        proxy.freeze()
        with reasons() as found:
            assert reads(web, job, headers) == RIGHT
        assert proxy.withheld.is_set()
        assert found == {"away": 3}  # the first of them has waited
        proxy.thaw()
        pair.elapsed.pass_by()
        with reasons() as found:
            assert reads(web, job, headers) == RIGHT
        assert found == {"none": 3}


def test_a_replica_that_falls_silent_in_a_read_is_given_up_after_its_time_limit(pair: Replicated) -> None:
    pair.completed()
    pair.caught_up()
    asked = list[bool]()
    with behind_proxy(pair, statement_seconds=5) as (proxy, web):

        def fetch(tx: Tx) -> None:
            [(is_replica,)] = tx.run(text("SELECT pg_is_in_recovery()"))
            asked.append(is_replica)
            if is_replica:
                proxy.freeze()
            tx.run(text("SELECT 1"))

        with reasons() as found:
            reading.read_current(web.uow, fetch)
    assert asked == [True, False]
    assert found == {"away": 1}


def test_a_replica_that_became_a_server_of_its_own_is_not_read(doomed: Replicated) -> None:
    headers = doomed.web.token()
    job = doomed.completed(headers=headers)
    doomed.caught_up()
    assert reads(doomed.web, job, headers) == RIGHT
    doomed.pair.standby.promote()
    query(doomed.pair.standby, "UPDATE codebases SET is_private = true")
    query(doomed.pair.standby, "UPDATE analyses SET summary = '{}', commit_sha = repeat('f', 40)")
    with reasons() as found:
        assert reads(doomed.web, job, headers) == RIGHT
    assert found.keys() == {"unfit"}
    assert doomed.replica.fault == "it is not a standby"


def test_the_primary_itself_is_no_replica(pair: Replicated) -> None:
    headers = pair.web.token()
    job = pair.completed(headers=headers)
    web = pair.another_web(pair.pair.primary)
    with reasons() as found:
        assert reads(web, job, headers) == RIGHT
    assert found.keys() == {"unfit"}


def test_a_replica_of_another_service_is_not_read(pair: Replicated) -> None:
    headers = pair.web.token()
    job = pair.completed(headers=headers)
    with Replicated.streaming() as other:
        other.completed("foreign")
        lengthen_log(other.pair.primary)
        other.caught_up()
        web = pair.another_web(other.pair.standby)
        with reasons() as found:
            assert reads(web, job, headers) == RIGHT
            assert "acme/foreign" not in web.client.get("/explore").text
        assert found["none"] == 0
        assert {"lacking", "behind"} <= found.keys()
        assert reading.fault_of(web.uow, web.uow.replica) == "it does not have the newest event"  # type: ignore[arg-type]


def test_a_replica_that_went_on_after_a_failover_is_not_read(doomed: Replicated) -> None:
    """It follows the former primary, has more of the log than the new one, and jobs that were lost."""
    headers = doomed.web.token()
    with ExitStack() as made:
        heir = Standby(doomed.pair.primary, "heir")
        made.callback(heir.remove)
        heir.follow()
        job = doomed.completed(headers=headers)
        [(written,)] = query(doomed.pair.primary, "SELECT pg_current_wal_insert_lsn()")
        wait_for(lambda: query(heir, "SELECT pg_last_wal_replay_lsn() >= %s", written) == [(True,)], "the heir")
        heir.stop()
        doomed.completed("lost", headers)
        lengthen_log(doomed.pair.primary)
        doomed.caught_up()
        doomed.pair.primary.kill()
        heir.start()
        heir.promote()
        web = doomed.web_on_primary(heir)
        made.callback(web.uow.engine.dispose)
        with reasons() as found:
            assert reads(web, job, headers) == RIGHT
            assert "acme/lost" not in web.client.get("/explore").text
        # what completed on both is the same on both
        assert found["behind"] == 2
        assert reading.fault_of(web.uow, doomed.replica) == "it is on another timeline"


@pytest.mark.parametrize("statement", ["SELECT pg_sleep(60)", None], ids=["in a statement", "between two"])
def test_a_read_that_replay_cancels_is_answered_by_the_primary(pair: Replicated, statement: str | None) -> None:
    pair.completed()
    pair.caught_up()
    asked = list[bool]()
    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"
    reading_now = "SELECT count(*) FROM pg_locks WHERE relation = 'codebases'::regclass"

    def conflict(seen: str, number: int) -> None:
        wait_for(lambda: query(pair.pair.standby, seen) == [(number,)], "the read")
        query(pair.pair.primary, "BEGIN; LOCK TABLE codebases IN ACCESS EXCLUSIVE MODE; COMMIT")

    def fetch(tx: Tx) -> int:
        count = int(tx.run(text("SELECT count(*) FROM codebases")).scalar_one())
        [(is_replica,)] = tx.run(text("SELECT pg_is_in_recovery()"))
        asked.append(is_replica)
        if is_replica and statement:
            threading.Thread(target=conflict, args=(sleeping, 1)).start()
            tx.run(text(statement))
        elif is_replica:
            conflict(reading_now, 1)
            wait_for(lambda: query(pair.pair.standby, reading_now) == [(0,)], "the session to be ended")
            tx.run(text("SELECT 1"))
        return count

    with reasons() as found:
        assert reading.read_current(pair.web.uow, fetch) > 0
    assert asked == [True, False]
    assert found.total() == 1
    assert found.keys() <= ({"conflict"} if statement else {"conflict", "away"})


def test_a_read_that_takes_too_long_is_not_repeated_on_the_primary(pair: Replicated) -> None:
    pair.completed()
    pair.caught_up()
    asked = list[bool]()

    def fetch(tx: Tx) -> None:
        asked.append(True)
        tx.write(text("SET LOCAL statement_timeout = '50ms'"))
        tx.run(text("SELECT pg_sleep(60)"))

    with pytest.raises(OperationalError):
        reading.read_current(pair.web.uow, fetch)
    assert asked == [True]


def test_a_replica_of_an_earlier_schema_is_not_read(pair: Replicated) -> None:
    headers = pair.web.token()
    job = pair.completed(headers=headers)
    pair.caught_up()
    newer = f"{int(schema.needed()) + 1:04}"
    web = pair.another_web(needed=newer)
    with pair.standing_still():
        query(pair.pair.primary, f"UPDATE alembic_version SET version_num = '{newer}'")
        with reasons() as found:
            assert reads(web, job, headers) == RIGHT
        assert found.keys() == {"unfit"}
    pair.elapsed.pass_by()
    with reasons() as found:
        assert reads(web, job, headers) == RIGHT
    assert found.keys() == {"none"}
    query(pair.pair.primary, f"UPDATE alembic_version SET version_num = '{schema.needed()}'")


def test_a_statement_that_only_fails_there_is_answered_by_the_primary(pair: Replicated) -> None:
    pair.completed()
    pair.caught_up()

    def only_here(tx: Tx) -> bool:
        return bool(tx.run(text("SELECT 1 / CASE WHEN pg_is_in_recovery() THEN 0 ELSE 1 END")).scalar_one())

    with reasons() as found:
        assert reading.read_current(pair.web.uow, only_here)
    assert found == {"away": 1}


def test_the_operator_is_told(pair: Replicated) -> None:
    boss = pair.web.user(is_operator=True)
    pair.completed()
    pair.caught_up()
    pair.web.sign_in(boss)
    shown: Callable[[], str] = lambda: pair.web.client.get("/operator/health").text  # noqa: E731
    # one look waits for the replay for 62 ms
    wait_for(lambda: '<dt>Replica</dt><dd translate="no">ok</dd>' in shown(), "the replica to have what is asked for")
    assert "replica" not in pair.alone.client.get("/readyz").json
    pair.pair.standby.kill()
    assert "it does not answer" in shown()
    assert pair.web.client.get("/readyz").json["replica"].startswith("it does not answer")
    assert 'fairlane_replica_reads_total{reason="away"}' in pair.web.client.get("/metrics?of=process").text
    pair.pair.standby.follow()


def test_processes_of_the_service_use_it_and_say_so(pair: Replicated, tmp_path: Path) -> None:
    headers = pair.web.token()
    job = pair.completed(headers=headers)
    pair.caught_up()
    answered = 'fairlane_replica_reads_total{reason="none"} '
    with Nodes.open(pair.pair.primary.url(), tmp_path) as nodes:
        nodes.settings = {"DATABASE_READ_URL": pair.pair.standby.url()}
        web = Process(nodes, tmp_path, headers["Authorization"].removeprefix("Bearer "))
        assert len(web.ask(f"/api/v1/analyses/{job}/tests")["items"]) == 3
        assert web.ask("/readyz")["replica"] == "ok"
        assert answered in web.ask("/metrics?of=process")
        assert doctor(nodes)["replica"]["status"] == "ok"
        pair.pair.standby.kill()
        assert len(web.ask(f"/api/v1/analyses/{job}/tests")["items"]) == 3
        assert web.ask("/readyz")["replica"].startswith("it does not answer")
        assert web.process.logs().count("replica_left_alone") == 1
        [row] = doctor(nodes)["replica"]["rows"]
        assert row["fault"].startswith("it does not answer")
        assert doctor(nodes, DATABASE_READ_URL="")["replica"]["status"] == "ok"
    pair.pair.standby.follow()
