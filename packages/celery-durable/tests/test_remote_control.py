"""Remote control, events and broadcast queues, with real Celery workers."""

import os
import re
import signal
import subprocess
import sys
from threading import Thread
from time import sleep
from typing import Any

import pytest
from celery.worker import control
from celery_durable import celery_worker
from durable_harness import broker as harness
from durable_harness.broker import PREFIX, ROOT, Broker, Worker
from durable_harness.waiting import wait_for
from kombu.common import Broadcast

SESSIONS = """
    SELECT count(*) FROM pg_stat_activity WHERE application_name = 'durable-broker' AND datname = current_database()"""
BUSY = {"BROKER_TEST_REMOTE": "1", "BROKER_TEST_MULTIPLIER": "2"}


@pytest.fixture(autouse=True)
def _beating(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flags of a worker in production."""
    monkeypatch.setattr(harness, "QUIET", ("--without-gossip", "--without-mingle"))


def name(worker: Worker) -> str:
    return f"{worker.log.stem}@test"


def asked(broker: Broker, workers: list[Worker], command: str, **arguments: Any) -> dict[str, Any]:
    """What each worker answers; does not wait for others."""
    names = [name(worker) for worker in workers]
    answers = broker.app.control.broadcast(command, arguments, reply=True, destination=names, timeout=60)
    return {name: answer for one in answers or () for name, answer in one.items()}


def processes(broker: Broker, workers: list[Worker]) -> dict[str, int]:
    return {which: len(one["pool"]["processes"]) for which, one in asked(broker, workers, "stats").items()}


class Watcher(Thread):
    """Keeps every event there is."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(daemon=True)
        self.broker, self.events, self.receiver = broker, [], None
        self.start()
        wait_for(lambda: broker.value("SELECT count(*) FROM kombu_broadcast WHERE routing_key = 'celeryev'"))

    def run(self) -> None:
        with self.broker.app.connection() as connection:
            self.receiver = self.broker.app.events.Receiver(connection, handlers={"*": self.events.append})
            self.receiver.capture()

    def stop(self) -> None:
        self.receiver.should_stop = True
        self.join(60)
        assert not self.is_alive()

    def kinds(self) -> set[str]:
        return {event["type"] for event in self.events}


@pytest.mark.proof
def test_a_busy_worker_answers_at_once_and_inspect_leaves_no_queue_behind(broker: Broker) -> None:
    worker = broker.worker("-c", "1", **BUSY)
    for number in range(4):
        broker.send("nap", 300, task_id=f"n{number}")
    wait_for(
        lambda: broker.started() == 1 and broker.value("SELECT count(*) FROM kombu_message WHERE NOT visible") == 2
    )
    wanted = {
        "ping": "pong", "active": "n0", "reserved": "n1", "stats": "prefetch_count", "registered": f"{PREFIX}.nap",
    }  # fmt: skip
    asking = {
        command: subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", PREFIX, "inspect", command, "-d", name(worker), "-t", "60"],
            cwd=ROOT, env=os.environ | {"BROKER_TEST_URL": broker.url}, stdout=subprocess.PIPE, text=True,
        )
        for command in wanted
    }  # fmt: skip
    assert asked(broker, [worker], "ping") == {name(worker): {"ok": "pong"}}
    assert broker.left() == 4  # the first of them still naps
    for command, process in asking.items():
        assert wanted[command] in process.communicate(timeout=120)[0], command
        assert process.returncode == 0
    [active] = asked(broker, [worker], "active").values()
    assert [task["id"] for task in active] == ["n0"]
    assert broker.query("SELECT name FROM kombu_queue") == [("main",)]
    worker.stop(signal.SIGQUIT)


@pytest.mark.proof
def test_a_worker_answers_and_sends_events_in_the_session_it_has(broker: Broker) -> None:
    worker = broker.worker("-c", "1", "-E", BROKER_TEST_REMOTE="1")
    wait_for(lambda: broker.value(SESSIONS) == 1)  # that of the declaration may be ending still
    watcher = Watcher(broker)
    asked(broker, [worker], "ping")
    wait_for(lambda: "worker-heartbeat" in watcher.kinds())
    watcher.stop()
    broker.app.pool.force_close_all()
    wait_for(lambda: broker.value(SESSIONS) == 1)


@pytest.mark.proof
def test_commands_reach_all_workers_or_the_named_one(broker: Broker) -> None:
    first, second = workers = [broker.worker("-c", "1", ready=False, **BUSY) for _ in range(2)]
    for worker in workers:
        wait_for(lambda worker=worker: "ready." in worker.text)
    both = {name(worker) for worker in workers}
    wait_for(lambda: set(broker.app.control.inspect(timeout=1).ping() or ()) == both)
    assert set(asked(broker, [second], "ping")) == {name(second)}
    assert "ok" in asked(broker, [first], "pool_grow", n=1)[name(first)]
    assert "ok" in asked(broker, [first], "rate_limit", task_name=f"{PREFIX}.work", rate_limit="5/m")[name(first)]
    wait_for(lambda: processes(broker, workers) == {name(first): 2, name(second): 1})
    assert "ok" in asked(broker, [first], "pool_shrink", n=1)[name(first)]
    assert "ok" in asked(broker, [second], "add_consumer", queue="other")[name(second)]
    broker.send("work", queue="other", task_id="elsewhere")
    wait_for(lambda: broker.ended() == 1)
    assert "elsewhere" in second.text
    assert "ok" in asked(broker, [second], "cancel_consumer", queue="other")[name(second)]
    broker.send("work", queue="other")
    everywhere = broker.app.amqp.queues.add(Broadcast("everywhere"))
    broker.send("work", queue=everywhere, task_id="all")
    wait_for(lambda: broker.ended() == 3)
    assert broker.value("SELECT count(DISTINCT pid) FROM runs WHERE task_id = 'all' AND what = 'end'") == 2
    broker.app.control.shutdown(destination=[name(second)])
    assert second.process.wait(60) == 0
    wait_for(lambda: broker.app.control.ping(timeout=1) == [{name(first): {"ok": "pong"}}])
    assert broker.left() == 1, "the queue that is no longer consumed"
    assert broker.query("SELECT name FROM kombu_queue ORDER BY 1") == [("main",), ("other",)]


def test_a_worker_that_leaves_its_queues_says_so_and_comes_back(broker: Broker) -> None:
    first = broker.worker("-c", "2", BROKER_TEST_REMOTE="1")
    broker.send("nap", 300, task_id="runs")
    wait_for(lambda: broker.started() == 1)
    assert "ok" in asked(broker, [first], "cancel_consumer", queue="main")[name(first)]
    wait_for(lambda: broker.query("SELECT queues FROM broker_node") == [([],)], "the queues that are left")
    broker.send("work", task_id="next")
    second = broker.worker("-c", "1", BROKER_TEST_REMOTE="1")
    wait_for(lambda: broker.ended() == 1)
    assert ("next" in first.text, "next" in second.text) == (False, True)
    second.stop()
    assert "ok" in asked(broker, [first], "add_consumer", queue="main")[name(first)]
    wait_for(lambda: broker.query("SELECT queues FROM broker_node") == [(["main"],)], "the queues that are back")
    broker.send("work")
    wait_for(lambda: broker.ended() == 2)
    first.stop(signal.SIGQUIT)


def test_a_revoked_task_does_not_run_and_a_terminated_one_stops(broker: Broker) -> None:
    worker = broker.worker("-c", "1", **BUSY)
    broker.send("nap", 300, task_id="runs")
    broker.send("work", task_id="waits")
    wait_for(lambda: broker.started() == 1)
    broker.app.control.revoke("waits")
    assert asked(broker, [worker], "revoked")[name(worker)] == ["waits"]
    broker.app.control.revoke("runs", terminate=True)
    broker.send("work", task_id="next")
    wait_for(lambda: broker.left() == 0)
    assert broker.query("SELECT task_id, what FROM runs ORDER BY id") == [
        ("runs", "start"), ("next", "start"), ("next", "end"),
    ]  # fmt: skip
    assert worker.stop() == 0


@pytest.mark.proof
def test_events_reach_a_receiver_and_leave_nothing_when_there_is_none(broker: Broker) -> None:
    watcher = Watcher(broker)
    worker = broker.worker("-c", "1", BROKER_TEST_REMOTE="1")
    wait_for(lambda: "worker-online" in watcher.kinds())
    assert "ok" in asked(broker, [worker], "enable_events")[name(worker)]
    broker.send("work")
    tasks = {"task-received", "task-started", "task-succeeded"}
    wait_for(lambda: watcher.kinds() >= tasks | {"worker-heartbeat"})
    assert asked(broker, [worker], "disable_events")[name(worker)] == {"ok": "task events disabled"}
    watcher.stop()
    worker.stop()
    broker.query("DELETE FROM kombu_broadcast")

    broker.worker("-c", "1", "-E", BROKER_TEST_REMOTE="1")
    for _ in range(20):
        broker.send("work")
    wait_for(lambda: broker.ended() == 21)
    sleep(0.3)
    assert broker.value("SELECT count(*) FROM kombu_broadcast") == 0
    late = Watcher(broker)
    broker.send("work")
    wait_for(lambda: late.kinds() >= tasks)
    late.stop()


@pytest.mark.proof
@pytest.mark.parametrize("pool", ["solo", "threads"])
def test_pools_without_a_loop_answer_too(broker: Broker, pool: str) -> None:
    worker = broker.worker("-P", pool, "-c", "1", **BUSY)
    broker.send("work")
    wait_for(lambda: broker.ended() == 1)
    assert asked(broker, [worker], "ping") == {name(worker): {"ok": "pong"}}
    broker.app.control.shutdown()
    assert worker.process.wait(60) == 0


@pytest.mark.proof
def test_mingle_and_gossip_do_no_harm_when_they_are_forced(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "QUIET", ())
    forced = {"BROKER_TEST_REMOTE": "1", "BROKER_TEST_NEIGHBOURS": "1"}
    workers = [broker.worker("-c", "1", **forced)]
    for _ in range(3):  # each asks for a second, and a busy one may not answer in time
        workers.append(broker.worker("-c", "1", **forced))
        if re.search(r"sync with \d nodes", workers[-1].text):
            break
    assert re.search(r"sync with \d nodes", workers[-1].text)
    broker.send("work")
    wait_for(lambda: broker.ended() == 1)
    assert set(asked(broker, workers, "ping")) == {name(worker) for worker in workers}
    assert workers[1].stop() == 0
    assert broker.query("SELECT name FROM kombu_queue") == [("main",)]


WAITS = "SELECT task_id FROM kombu_message WHERE lease_token IS NULL ORDER BY task_id"


@pytest.mark.proof
def test_a_revoked_task_that_waits_is_gone_and_so_stays_revoked_after_a_restart(broker: Broker) -> None:
    workers = [broker.worker("-c", "1", BROKER_TEST_REMOTE="1") for _ in range(2)]
    for task_id in ("later", "much later", "kept"):
        broker.send("work", task_id=task_id, countdown=3600)
    answers = [asked(broker, workers, "revoke", task_id=["later", "much later", "unknown"]) for _ in range(2)]
    assert [set(one) for one in answers] == [{name(worker) for worker in workers}] * 2
    assert all("ok" in answer for one in answers for answer in one.values())
    assert broker.query(WAITS) == [("kept",)]
    told = re.findall(r"event=revoked tasks=(.*)", "\n".join(worker.text for worker in workers))
    assert sorted(task_id for line in told for task_id in line.split(",")) == ["later", "much later"]  # each by one
    for worker in workers:
        worker.stop()
    broker.query("UPDATE kombu_message SET visible_at = now()")
    again = broker.worker("-c", "1", BROKER_TEST_REMOTE="1")
    wait_for(lambda: broker.left() == 0)
    assert broker.query("SELECT DISTINCT task_id FROM runs") == [("kept",)]
    again.stop()


@pytest.mark.proof
def test_a_revoke_leaves_what_runs_and_what_another_name_has(broker: Broker) -> None:
    worker = broker.worker("-c", "1", BROKER_TEST_REMOTE="1")
    broker.send("held", task_id="runs")
    wait_for(lambda: broker.started() == 1)
    broker.send("work", task_id="runs no more", countdown=3600, headers={"tenant": "ann"})
    asked(broker, [worker], "revoke", task_id="runs")
    assert broker.left() == 2
    broker.release()
    wait_for(lambda: broker.query("SELECT task_id FROM kombu_message") == [("runs no more",)])
    asked(broker, [worker], "terminate", signal="TERM", task_id="runs no more")
    assert broker.left() == 0
    worker.stop()


@pytest.mark.proof
def test_a_revoke_is_remembered_also_when_the_row_cannot_be_deleted(broker: Broker) -> None:
    worker = broker.worker("-c", "1", BROKER_TEST_REMOTE="1")
    broker.send("work", task_id="later", countdown=3600)
    with broker.connect() as holder, holder.cursor() as cursor:
        cursor.execute("SELECT FROM kombu_message FOR UPDATE")
        asked(broker, [worker], "revoke", task_id="later")
        assert broker.left() == 1
    [revoked] = asked(broker, [worker], "revoked").values()
    assert revoked == ["later"]
    worker.stop()


@pytest.mark.proof
def test_an_application_s_own_revoke_decides_what_becomes_of_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def own(state: object, task_id: str) -> None:
        """Neither this one nor what it calls is replaced."""

    commands = control.Panel.data
    monkeypatch.setitem(commands, "revoke", own)
    monkeypatch.setitem(commands, "terminate", control.terminate)
    for _ in range(2):
        celery_worker._listen_to_revokes()
        assert commands["revoke"] is own
        assert commands["terminate"].__wrapped__ is control.terminate
