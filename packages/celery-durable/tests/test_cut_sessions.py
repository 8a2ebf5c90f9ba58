"""A session that is cut is no death: a worker that lives keeps what it runs, whichever of its sessions ends."""

import os
import warnings
from threading import Thread
from typing import Any

import psutil
import pytest
from celery_durable.database import runner
from durable_harness.broker import Broker, Worker
from durable_harness.taker import Take, Taker
from durable_harness.waiting import wait_for

#: More than the losses after which a message of the worker's app is buried.
CUTS = 4
#: The heart's last statement was a renewal, or the one by which it takes the node's lock.
OF_THE_HEART = (
    "(query LIKE '%%started_at = CASE%%' OR query LIKE '%%pg_advisory_lock%%' AND query NOT LIKE '%%LISTEN%%')"
)
SESSIONS = """
    SELECT pid, query_start, {} FROM pg_stat_activity
     WHERE application_name = 'durable-broker' AND client_port = ANY (%s)"""
DIES = "SELECT lost_count, lease_token IS NULL FROM kombu_message"


def sessions(broker: Broker, worker: Worker) -> list[tuple[int, Any, bool]]:
    """Return the sessions of a worker's main process: (pid, when its last statement began, is it the heart's)."""
    ports = [one.laddr.port for one in psutil.Process(worker.process.pid).net_connections("tcp") if one.laddr]
    return [(pid, at, heart) for pid, at, heart in broker.query(SESSIONS.format(OF_THE_HEART), ports)]


def cut(broker: Broker, worker: Worker, *, heart: bool = True) -> None:
    """End its node's session, and the heart's."""
    for pid, _, is_heart in sessions(broker, worker):
        if heart or not is_heart:
            broker.query("SELECT pg_terminate_backend(%s, 10000)", pid)


def looks(broker: Broker, worker: Worker, number: int) -> None:
    """Wait until its node has looked so many times."""
    seen: set[Any] = set()
    wait_for(
        lambda: len(seen) > number or seen.update(at for _, at, heart in sessions(broker, worker) if not heart),
        "the other node's looks",
    )


@pytest.mark.proof
@pytest.mark.parametrize(
    ("pool", "heart", "back"),
    [("solo", False, 1), ("solo", True, 1), ("prefork", True, 2)],
    ids=["solo, the node's", "solo, all", "prefork, all"],
)
def test_a_long_task_whose_worker_loses_its_sessions_again_and_again_runs_once(
    broker: Broker, pool: str, heart: bool, back: int
) -> None:
    worker, sibling = (broker.worker("-P", pool, "-c", "1") for _ in range(2))
    broker.send("held", task_id="long")
    wait_for(lambda: broker.started() == 1)
    holder = broker.value("SELECT pid FROM runs")
    if holder not in (worker.process.pid, *(child.pid for child in psutil.Process(worker.process.pid).children())):
        worker, sibling = sibling, worker
    wait_for(lambda: len(sessions(broker, worker)) == 2, "the heart's session")
    for _ in range(CUTS):
        cut(broker, worker, heart=heart)
        looks(broker, sibling, 3)
        wait_for(lambda: len(sessions(broker, worker)) >= back, "its sessions again")
    assert broker.query(DIES) == [(0, False)]
    broker.release()
    wait_for(lambda: broker.left() == 0)
    assert broker.query("SELECT what, lost_count FROM runs WHERE task_id = 'long' ORDER BY id") == [
        ("start", 0), ("end", 0),
    ]  # fmt: skip
    assert broker.query("SELECT reason FROM kombu_dead_letter") == []


@pytest.mark.proof
@pytest.mark.parametrize("pool", ["solo", "prefork"])
def test_a_killed_worker_s_task_runs_again_long_before_its_lease_ends(broker: Broker, pool: str) -> None:
    """Control: the same two workers, and the one that runs the task is dead."""
    long = {"BROKER_TEST_LEASE": "600"}
    doomed = broker.worker("-P", pool, "-c", "1", **long)
    broker.send("held", task_id="long")
    wait_for(lambda: broker.started() == 1)
    broker.worker("-P", pool, "-c", "1", **long)
    doomed.kill_tree()
    wait_for(lambda: broker.started() == 2)
    assert broker.value("SELECT max(lost_count) FROM runs") == 1


def node_pid(taker: Taker) -> int:
    return int(taker.channel.node.session._database.connection.info.backend_pid)


def judge(broker: Broker) -> None:
    """Judge the nodes in two looks, between which more than a second seems to pass."""
    for _ in range(2):
        broker.query("SELECT durable_judge(NULL, true, 0)")
        broker.query("UPDATE kombu_node SET suspected_at = suspected_at - interval '1 min'")


def started(broker: Broker, taker: Taker) -> Any:
    """A delivery whose code runs."""
    broker.send("work")
    (message,) = taker.take(1)
    broker.query("UPDATE kombu_message SET started_at = now()")
    wait_for(lambda: not taker.channel.node._heart or taker.channel.node._heart._has_lock, "the heart's session")
    return message


def test_a_consumer_that_is_busy_while_its_session_ends_keeps_what_it_holds(broker: Broker, taker: Take) -> None:
    busy = taker()
    message = started(broker, busy)
    broker.query("SELECT pg_terminate_backend(%s, 10000)", node_pid(busy))
    judge(broker)
    assert broker.query(DIES) == [(0, False)]
    message.ack()
    wait_for(lambda: busy.look() or broker.left() == 0)


@pytest.mark.proof
def test_a_renewal_that_comes_late_does_not_bring_a_lease_back_under_a_dead_lock(broker: Broker, taker: Take) -> None:
    one = taker()
    message = started(broker, one)
    node = one.channel.node
    (lease,) = node.held.values()
    late = {"ids": [lease.row_id], "tokens": [lease.token], "owner": node.session.owner, "lease": 60, "begun": []}
    before = node_pid(one)
    broker.query("SELECT pg_terminate_backend(%s, 10000)", before)
    wait_for(lambda: one.look() or (node.session.connected and node_pid(one) != before))
    connection = broker.connect()
    connection.autocommit = True
    assert runner(connection)(node._sql.renew, late) == [(lease.row_id, True)]
    connection.close()
    judge(broker)
    assert broker.query(DIES) == [(0, False)]
    message.ack()
    wait_for(lambda: one.look() or broker.left() == 0)


class TestADeadNode:
    """Its lock is free in two looks, and it has not been back between them."""

    @pytest.fixture
    def doubtful(self, broker: Broker) -> Broker:
        """A node that holds a message; nobody holds its lock."""
        broker.send("work")
        broker.query("INSERT INTO kombu_node (lock, name) VALUES (7, 'gone:1')")
        broker.query(
            "UPDATE kombu_message SET visible = false, visible_at = now() + interval '1 h', lease_owner = 7,"
            " lease_token = gen_random_uuid(), started_at = now()"
        )
        return broker

    def judge(self, broker: Broker, *, passes: bool = True) -> Any:
        judged = broker.query("SELECT others, doubted, moved FROM durable_judge(NULL, true, 0)")
        if passes:
            broker.query("UPDATE kombu_node SET suspected_at = suspected_at - interval '2 s'")
        return judged[0]

    def test_is_in_doubt_at_first_and_dead_a_second_later(self, doubtful: Broker) -> None:
        assert self.judge(doubtful, passes=False) == (True, True, 0)
        doubtful.query(
            "UPDATE kombu_node SET suspected_at = clock_timestamp() + interval '1 h'"
        )  # less than a second ago
        assert self.judge(doubtful, passes=False) == (True, True, 0)
        assert doubtful.query("SELECT is_alive FROM broker_node") == [(False,)]
        doubtful.query("UPDATE kombu_node SET suspected_at = clock_timestamp() - interval '2 s'")
        assert self.judge(doubtful) == (True, False, 1)
        assert doubtful.query(DIES) == [(1, True)]
        assert doubtful.query("SELECT name FROM kombu_node") == []

    @pytest.mark.parametrize("lock", ["pg_advisory_lock", "pg_advisory_lock_shared"])
    def test_is_none_that_holds_its_lock_as_this_release_does_or_the_one_before(
        self, doubtful: Broker, lock: str
    ) -> None:
        with doubtful.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"SELECT {lock}(7)")
            assert [self.judge(doubtful) for _ in range(3)] == [(True, False, 0)] * 3
            assert doubtful.query("SELECT is_alive FROM broker_node") == [(True,)]
        connection.close()
        assert doubtful.query(DIES) == [(0, False)]

    def test_is_none_that_was_back_since_the_first_look(self, doubtful: Broker, taker: Take) -> None:
        self.judge(doubtful)
        name = taker().channel.node._sql.name
        connection = doubtful.connect()
        connection.autocommit = True
        runner(connection)(name, {"owner": 7, "name": "gone:1", "poll": 5, "spare": None, "before": None})
        connection.close()  # and away again: as much in doubt as before the first look
        wait_for(lambda: self.judge(doubtful, passes=False) == (True, True, 0))
        assert doubtful.query(DIES) == [(0, False)]


def test_one_node_judges_for_all_once_in_a_second(broker: Broker) -> None:
    ask = "SELECT others FROM durable_judge(%s, true, 0.95)"
    judged = "SELECT judged_at FROM kombu_judgement"
    in_doubt = "SELECT count(*) FROM kombu_node WHERE suspected_at IS NOT NULL"
    broker.query("INSERT INTO kombu_node (lock, name) VALUES (7, 'gone:1'), (8, 'gone:2')")
    assert broker.value(ask, 1) is False
    broker.query("UPDATE kombu_node SET suspected_at = NULL")
    broker.query("UPDATE kombu_judgement SET judged_at = clock_timestamp() - interval '0.01 s'")
    before = broker.query(judged)
    # unless this machine stood still for that second
    assert broker.value(ask, 2) is None or broker.query(judged) != before
    for at in ("- interval '1 s'", "+ interval '1 h'"):  # and when the clock was set back
        broker.query("UPDATE kombu_node SET suspected_at = NULL")
        broker.query(f"UPDATE kombu_judgement SET judged_at = clock_timestamp() {at}")
        assert (broker.value(ask, 2), broker.value(in_doubt)) == (False, 2)


def test_a_node_that_comes_while_another_judges_does_not_wait_for_it(broker: Broker) -> None:
    broker.query("INSERT INTO kombu_judgement VALUES (now() - interval '1 h', true)")
    with broker.connect() as judge_, judge_.cursor() as cursor:
        cursor.execute("SELECT FROM kombu_judgement FOR UPDATE")
        assert broker.value("SELECT others FROM durable_judge(1, true, 0.95)") is True
        judge_.rollback()
    judge_.close()


def test_a_name_that_a_stopping_node_of_the_release_before_took_away_comes_back(broker: Broker, taker: Take) -> None:
    one = taker()
    one.look()
    named = broker.query("SELECT lock, name FROM kombu_node")
    broker.query("DELETE FROM kombu_node WHERE pg_try_advisory_xact_lock_shared(lock)")
    one.channel.node.reader.poll(10)
    assert broker.query("SELECT lock, name FROM kombu_node") == named


@pytest.mark.proof
def test_a_claim_that_an_ended_session_commits_late_does_not_wait_for_the_end_of_its_lease(
    broker: Broker, taker: Take
) -> None:
    one = taker(lease_seconds=600, poll_seconds=0.2)
    one.look()
    node, before = one.channel.node, node_pid(one)
    broker.query("SELECT pg_terminate_backend(%s, 10000)", before)
    wait_for(lambda: one.look() or (node.session.connected and node_pid(one) != before))
    broker.send("work", queue="elsewhere")
    broker.query(
        "UPDATE kombu_message SET visible = false, visible_at = now() + interval '1 h', lease_token = gen_random_uuid(),"
        " lease_owner = %s, queue_id = (SELECT id FROM kombu_queue WHERE name = 'main')",
        node.session.owner,
    )
    one.take(1)


@pytest.mark.proof
def test_an_idle_node_has_one_session_and_one_that_holds_a_message_a_second_one(broker: Broker) -> None:
    worker = broker.worker("-c", "1")
    assert len(sessions(broker, worker)) == 1
    broker.send("held")
    wait_for(lambda: len(sessions(broker, worker)) == 2)
    broker.release()


@pytest.mark.proof
def test_what_a_killed_node_ran_starts_on_a_new_one_before_anything_that_waited(broker: Broker) -> None:
    doomed = broker.worker("-c", "4")
    for number in range(40):
        broker.send("held", task_id=f"{number:02}")
    wait_for(lambda: broker.started() == 4)
    doomed.kill_tree()
    broker.worker("-c", "4")
    ready = broker.value("SELECT clock_timestamp()")
    wait_for(lambda: broker.value("SELECT count(*) FROM runs WHERE what = 'start' AND lost_count = 1") == 4)
    ran = {task for (task,) in broker.query("SELECT task_id FROM runs WHERE what = 'start' AND lost_count = 1")}
    last = broker.value("SELECT max(at) FROM runs WHERE what = 'start' AND lost_count = 1")
    print(f"the last of the rescued began {(last - ready).total_seconds():.2f} s after the node was ready")
    starts = broker.query("SELECT task_id FROM runs WHERE what = 'start' ORDER BY id LIMIT 8")
    assert {task for (task,) in starts[4:]} == ran == {task for (task,) in starts[:4]}
    broker.release()


def test_a_session_that_ended_without_a_word_to_the_server_is_ended_by_the_next_one(
    broker: Broker, taker: Take
) -> None:
    one = taker()
    node, before = one.channel.node, node_pid(one)
    lost = node.session._database._connection  # it stays open, as the server sees it
    node.session._database._connection = None
    node.session.connected = False
    wait_for(lambda: one.look() or node_pid(one) != before, "another session")
    wait_for(
        lambda: not broker.query("SELECT pid FROM pg_stat_activity WHERE pid = %s", before), "the end of the lost one"
    )
    lost.close()


def test_a_task_that_ends_while_its_worker_stops_is_over_though_the_session_was_cut(
    broker: Broker, taker: Take
) -> None:
    stopping = taker()
    message = started(broker, stopping)
    broker.query("SELECT pg_terminate_backend(%s, 10000)", node_pid(stopping))
    message.ack()
    stopping.channel.node.close()
    assert broker.left() == 0


def test_a_node_closes_at_once_though_a_child_that_was_forked_meanwhile_lives(broker: Broker, taker: Take) -> None:
    parent = taker(lease_seconds=600)
    started(broker, parent)
    reading, writing = os.pipe()
    with warnings.catch_warnings(action="ignore"):  # that a process with threads forks is the point here
        child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # until the parent lets go
        os._exit(0)
    try:
        closing = Thread(target=parent.channel.node.close)
        closing.start()
        closing.join(timeout=60)
        assert not closing.is_alive()
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(child, 0)
    assert broker.query(DIES) == [(0, True)]
