"""A server that crashes, and clients that stop in the middle of what they do."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from celery_durable.template import send_many
from durable_harness.broker import ROOT, Broker
from durable_harness.standing import TASKS, TOLD
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for

#: A consumer that stops when the server works on its claim: the statement is sent, and the answer not read.
STOPS_IN_ITS_CLAIM = """
import os, select, signal, sys
from kombu import Connection
from psycopg2.extensions import POLL_OK, POLL_READ
import celery_durable
from celery_durable import async_database
from durable_harness.taker import Taker

claiming = False

def run(self, statement, parameters=None, run=async_database.AsyncDatabase.run):
    global claiming
    claiming = "claim (" in statement
    return run(self, statement, parameters)

def wait(connection, seconds):
    while (state := connection.poll()) != POLL_OK:
        if claiming and state == POLL_READ:
            os.kill(os.getpid(), signal.SIGSTOP)
        readable = [connection] if state == POLL_READ else []
        select.select(readable, [] if readable else [connection], [], 1)

async_database.AsyncDatabase.run = run
async_database._wait = wait
Taker(Connection("durable+" + sys.argv[1]), ("main",), 30).take(30)
"""
LEASES_END = (
    "UPDATE kombu_message SET visible_at = now() WHERE lease_owner = (SELECT lock FROM kombu_node WHERE name LIKE %s)"
)
BIG = "x" * 500_000  # 30 of them are more than two sockets hold


@pytest.fixture
def idle_writers(broker: Broker) -> Iterator[None]:
    """Only who commits and waits for the disk writes to it."""
    writers = (
        "SELECT pid FROM pg_stat_activity WHERE backend_type IN ('walwriter', 'background writer', 'checkpointer')"
    )
    stopped = [pid for (pid,) in broker.query(writers)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    yield
    for pid in stopped:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def crash(broker: Broker) -> None:
    """Kill the server's own processes, and start it again when its other ones have seen that."""
    server = broker.server
    doomed = [pid for (pid,) in broker.query("SELECT pid FROM pg_stat_activity WHERE backend_type <> 'client backend'")]
    for pid in (int((server.data / "postmaster.pid").read_text().split()[0]), *doomed):
        with suppress(ProcessLookupError):  # some end by themselves once the first one is gone
            os.kill(pid, signal.SIGKILL)

    def starts() -> bool:
        with suppress(subprocess.CalledProcessError):
            server.start()
            return True
        return False

    wait_for(starts)


def taker(broker: Broker, window: int = 10, **options: Any) -> Taker:
    return Taker(broker.kombu(**options), ("main",), window)


@pytest.mark.usefixtures("idle_writers")
class TestAClaimThatWasNotOnDisk:
    def claimed(self, broker: Broker) -> tuple[Taker, Any]:
        one = taker(broker, heartbeat_seconds=5)
        one.look()
        broker.send("work", task_id="one")
        (message,) = one.take(1)
        return one, message

    @pytest.mark.proof
    def test_is_undone_by_a_crash_and_the_message_is_delivered_again(self, broker: Broker) -> None:
        one, old = self.claimed(broker)
        assert broker.value("SELECT pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn()")
        crash(broker)
        assert broker.query("SELECT visible, lease_token, delivery_count FROM kombu_message") == [(True, None, 0)]
        old.ack()
        (new,) = one.take(1)
        assert new.headers["lease_token"] != old.headers["lease_token"]
        assert new.headers["delivery_count"] == 1
        new.ack()
        wait_for(lambda: one.look() or broker.left() == 0)

    @pytest.mark.proof
    def test_is_made_durable_by_the_first_write_of_its_task(self, broker: Broker) -> None:
        one, message = self.claimed(broker)
        broker.query("UPDATE kombu_message SET started_at = now()")
        crash(broker)
        held = broker.query("SELECT lease_token::text, started_at IS NOT NULL FROM kombu_message")
        assert held == [(message.headers["lease_token"], True)]
        one.look()
        message.ack()
        wait_for(lambda: one.look() or broker.left() == 0)
        assert one.got == []


@pytest.mark.proof
def test_a_crash_under_load_loses_no_message(broker: Broker) -> None:
    broker.query(TOLD)
    worker = broker.worker("-c", "2", "-I", TASKS)
    with broker.connect() as connection:
        sent = set(send_many(connection, broker.app, f"{TASKS}.tells_in_the_end", [((), {})] * 1500, queue="main"))
    wait_for(lambda: broker.value("SELECT count(*) FROM told") > 10)
    crash(broker)
    assert broker.left() > 0
    wait_for(lambda: broker.left() == 0)
    assert {task_id for (task_id,) in broker.query("SELECT task_id FROM told")} == sent
    assert worker.stop() == 0


@pytest.mark.proof
def test_a_consumer_that_stops_in_the_middle_of_its_claim_holds_up_no_other(broker: Broker) -> None:
    for _ in range(30):
        broker.send("work", BIG)
    stopped = subprocess.Popen([sys.executable, "-c", STOPS_IN_ITS_CLAIM, broker.url], cwd=ROOT)
    broker.stack.callback(stopped.kill)
    sending = "SELECT state, wait_event FROM pg_stat_activity WHERE wait_event = 'ClientWrite'"
    wait_for(lambda: broker.query(sending) == [("active", "ClientWrite")])
    one = taker(broker, window=50, poll_seconds=0.2)
    for number in range(5):
        broker.send("work", task_id=f"later{number}")
    assert [message.headers["id"] for message in one.take(5)] == [f"later{number}" for number in range(5)]
    assert broker.query(sending)
    stopped.kill()
    stopped.wait()
    assert {message.headers["delivery_count"] for message in one.take(30)} == {1}


@pytest.mark.proof
def test_a_worker_that_is_frozen_is_replaced_and_harms_nothing_when_it_thaws(broker: Broker) -> None:
    short = {"BROKER_TEST_LEASE": "60", "BROKER_TEST_HEARTBEAT": "0.3", "BROKER_TEST_MULTIPLIER": "1"}
    frozen, heir = (broker.worker("-c", "1", **short) for _ in range(2))
    sent = {broker.send("held") for _ in range(2)}
    wait_for(lambda: broker.started() == 2)
    os.killpg(frozen.process.pid, signal.SIGSTOP)
    broker.query(LEASES_END, f"%:{frozen.process.pid}")
    broker.release()
    wait_for(lambda: broker.left() == 0)
    os.killpg(heir.process.pid, signal.SIGSTOP)
    again = broker.send("work", task_id=broker.value("SELECT task_id FROM runs WHERE lost_count = 1 LIMIT 1"))
    os.killpg(frozen.process.pid, signal.SIGCONT)
    wait_for(lambda: broker.left() == 0)
    assert again in sent
    assert broker.value("SELECT count(*) FROM runs WHERE what = 'end' AND task_id = %s", again) == 3
