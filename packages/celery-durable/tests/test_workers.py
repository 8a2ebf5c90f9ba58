"""Real Celery workers: what they lose (nothing) and repeat (as little as possible) when something dies."""

import signal
from time import monotonic

import pytest
from durable_harness.broker import Broker
from durable_harness.waiting import wait_for

ENDS = "SELECT count(*), count(DISTINCT task_id) FROM runs WHERE what = 'end'"


@pytest.mark.proof
def test_a_killed_tree_loses_nothing_and_its_running_tasks_run_again_in_seconds(broker: Broker) -> None:
    settings = {"BROKER_TEST_MULTIPLIER": "1", "BROKER_TEST_LEASE": "120"}
    doomed, heir = broker.worker("-c", "2", **settings), broker.worker("-c", "2", **settings)
    for _ in range(8):
        broker.send("held")
    wait_for(lambda: broker.started() == 4)
    doomed.kill_tree()
    killed_at = broker.value("SELECT clock_timestamp()")
    broker.release()
    wait_for(lambda: broker.left() == 0)
    again = broker.query("SELECT at FROM runs WHERE what = 'start' AND lost_count = 1")
    assert len(again) == 2
    assert max((at - killed_at).total_seconds() for (at,) in again) < 30  # the leases have two minutes
    assert broker.query(ENDS) == [(8, 8)]
    assert heir.stop() == 0


@pytest.mark.proof
def test_without_the_lock_a_killed_tree_is_noticed_by_the_end_of_its_leases(broker: Broker) -> None:
    settings = {"BROKER_TEST_LISTEN": "0", "BROKER_TEST_LEASE": "60", "BROKER_TEST_HEARTBEAT": "0.5"}
    doomed = broker.worker("-c", "1", **settings)
    broker.send("held")
    wait_for(lambda: broker.started() == 1)
    doomed.kill_tree()
    broker.query("UPDATE kombu_message SET visible_at = now()")  # as if a minute had passed
    broker.worker("-c", "1", ready=False, **settings)
    wait_for(lambda: broker.started() == 2)
    broker.release()
    wait_for(lambda: broker.left() == 0)
    ran = broker.query("SELECT what, lost_count FROM runs WHERE what <> 'release' ORDER BY id")
    assert ran == [("start", 0), ("start", 1), ("end", 1)]


def test_a_killed_child_gives_its_task_back_at_once_and_a_poison_task_is_buried(broker: Broker) -> None:
    broker.worker("-c", "2")
    broker.send("dies", 2, task_id="recovers")
    broker.send("dies", 99, task_id="poison")
    wait_for(lambda: broker.left() == 0)
    assert broker.query("SELECT lost_count FROM runs WHERE task_id = 'recovers' ORDER BY id") == [
        (0,),
        (1,),
        (2,),
        (2,),
    ]
    assert broker.value("SELECT count(*) FROM runs WHERE task_id = 'poison'") == 3
    assert broker.query("SELECT task_id, reason, lost_count FROM kombu_dead_letter") == [("poison", "lost", 3)]


@pytest.mark.proof
@pytest.mark.parametrize("limit", [(), ("--max-tasks-per-child", "1")], ids=["", "max-tasks-per-child"])
def test_retries_and_snoozes_are_exact(broker: Broker, limit: tuple[str, ...]) -> None:
    worker = broker.worker("-c", "2", *limit)
    jobs, times = (3, 1) if limit else (20, 3)
    for number in range(jobs):
        broker.send("retried", times, 0.05, task_id=f"r{number}")
        broker.send("retried", times, 0.05, kwargs={"snooze": True}, task_id=f"s{number}")
    wait_for(lambda: broker.left() == 0)
    starts = broker.query(
        "SELECT left(task_id, 1), retry_count, snooze_count, count(*) FROM runs WHERE what = 'start' GROUP BY 1, 2, 3"
    )
    expected = [("r", n, 0, jobs) for n in range(times + 1)] + [("s", 0, n, jobs) for n in range(times + 1)]
    assert sorted(starts) == sorted(expected)
    assert broker.query(ENDS) == [(2 * jobs, 2 * jobs)]
    assert worker.stop() == 0


@pytest.mark.proof
def test_a_countdown_is_kept_by_the_table_when_the_worker_dies(broker: Broker) -> None:
    worker = broker.worker("-c", "1")
    for _ in range(50):
        broker.send("nothing", countdown=600)
    worker.kill_tree()
    assert broker.value("SELECT count(*) FROM kombu_message WHERE delay_reason = 'eta'") == 50
    broker.query("UPDATE kombu_message SET visible_at = clock_timestamp() + interval '1 s'")
    broker.worker("-c", "1", ready=False)
    wait_for(lambda: broker.left() == 0)


def test_a_warm_shutdown_finishes_what_runs_and_hands_the_rest_back_at_once(broker: Broker) -> None:
    worker = broker.worker("-c", "1")
    for name in "abcd":
        broker.send("held", task_id=name)
    wait_for(lambda: broker.started() == 1 and not broker.value("SELECT bool_or(visible) FROM kombu_message"))
    worker.process.send_signal(signal.SIGTERM)
    wait_for(lambda: broker.value("SELECT count(*) FROM kombu_message WHERE visible") == 3)
    assert broker.ended() == 0  # they did not wait for the one that runs
    broker.release()
    assert worker.process.wait(60) == 0
    left = broker.query("SELECT task_id, visible, lost_count, lease_token FROM kombu_message ORDER BY id")
    assert left == [(name, True, 0, None) for name in "bcd"]


@pytest.mark.proof
def test_a_cold_shutdown_hands_back_what_ran_without_a_charge(broker: Broker) -> None:
    worker = broker.worker("-c", "1")
    broker.send("work", 30)
    wait_for(lambda: broker.started() == 1)
    worker.stop(signal.SIGQUIT)
    assert broker.query("SELECT visible, lost_count, lease_token FROM kombu_message") == [(True, 0, None)]


@pytest.mark.proof
def test_the_end_of_all_sessions_repeats_and_loses_nothing(broker: Broker) -> None:
    worker = broker.worker("-c", "2")
    for _ in range(100):
        broker.send("work", 0.2)
    for cut, done in enumerate((2, 6), 1):
        wait_for(lambda done=done: broker.ended() >= done)
        wait_for(
            lambda: broker.value("SELECT count(*) FROM runs WHERE what = 'start' AND at > now() - interval '0.15 s'")
        )
        broker.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'durable-broker'")
        wait_for(lambda cut=cut: worker.text.count("broker_connection_restored") >= cut)
    wait_for(lambda: broker.left() == 0)
    assert broker.query(ENDS) == [(100, 100)]
    assert worker.text.count("broker_connection_restored") == 2


@pytest.mark.proof
def test_a_restart_of_postgresql_loses_nothing_and_needs_no_hand(broker: Broker) -> None:
    workers = [broker.worker("-c", "1"), broker.worker("-c", "1")]
    broker.send("nap", 2.5)
    broker.send("nap", 2.5)
    wait_for(lambda: broker.started() == 2)
    broker.server.stop()
    broker.server.start()
    for _ in range(4):
        broker.send("work", retry=True)
    wait_for(lambda: broker.left() == 0)
    assert broker.query(ENDS) == [(6, 6)]
    assert [worker.stop() for worker in workers] == [0, 0]


@pytest.mark.proof
def test_a_table_that_is_away_for_a_moment_stops_no_node(broker: Broker) -> None:
    worker = broker.worker("-c", "2")
    broker.send("work", 3)
    broker.send("work", countdown=3600)
    wait_for(lambda: broker.started() == 1)
    broker.query("ALTER TABLE durable_message RENAME TO away")
    wait_for(lambda: worker.text.count("broker_statement_refused") > 1)
    broker.query("ALTER TABLE away RENAME TO durable_message")
    # nothing tells that it is due: a node whose clock stands never looks
    broker.query("UPDATE kombu_message SET visible_at = now() WHERE delay_reason = 'eta'")
    wait_for(lambda: broker.left() == 0)
    assert broker.query(ENDS) == [(2, 2)]
    assert "Error in timer" not in worker.text
    assert worker.text.count("broker_statement_refused") < 20
    assert "broker_connection_lost" not in worker.text  # nor the lock that tells that the node lives


@pytest.mark.proof
def test_four_nodes_on_one_queue_get_each_message_once(broker: Broker) -> None:
    for _ in range(200):
        broker.send("work")
    workers = [broker.worker("-c", "1", ready=False) for _ in range(4)]
    wait_for(lambda: broker.left() == 0)
    assert broker.query(ENDS) == [(200, 200)]
    assert broker.started() == 200
    for worker in workers:
        wait_for(lambda worker=worker: "ready." in worker.text)
        assert worker.stop() == 0


@pytest.mark.proof
def test_a_node_of_one_process_and_no_prefetch_does_not_stall(broker: Broker) -> None:
    broker.worker("-c", "1", BROKER_TEST_MULTIPLIER="1")
    began = monotonic()
    for _ in range(50):
        broker.send("nothing")
    wait_for(lambda: broker.left() == 0, seconds=200)
    assert monotonic() - began < 50  # five seconds for each that waits for the poll


@pytest.mark.proof
@pytest.mark.parametrize("pool", ["solo", "threads"])
def test_other_pools_work_and_stop(broker: Broker, pool: str) -> None:
    worker = broker.worker("-P", pool, "-c", "2")
    for number in range(60):  # ten seconds of work: what is prefetched must go back, not be run to its end
        broker.send("work", 0.3, task_id=str(number))
    wait_for(lambda: broker.ended() >= 1)
    assert worker.stop() == 0
    assert broker.query("SELECT count(*) FROM kombu_message WHERE NOT visible OR lost_count > 0") == [(0,)]
    assert broker.ended() + broker.left() == 60  # nothing is lost, and nothing runs again
    assert broker.left() > 0


def test_messages_nobody_can_run_are_dead_letters_and_the_worker_lives(broker: Broker) -> None:
    worker = broker.worker("-c", "1")
    broker.query(
        "INSERT INTO kombu_message (queue_id, payload) SELECT id, 'poison' FROM kombu_queue WHERE name = 'main'"
    )
    broker.send("no_such_task")
    broker.send("work", serializer="pickle")
    broker.send("work")
    wait_for(lambda: broker.left() == 0)
    reasons = broker.query("SELECT reason, count(*) FROM kombu_dead_letter GROUP BY 1 ORDER BY 1")
    assert (reasons, broker.ended()) == ([("rejected", 2), ("undecodable", 1)], 1)
    assert worker.stop() == 0
