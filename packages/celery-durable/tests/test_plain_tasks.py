"""`max_deliveries` holds for tasks that never say that they start; what is handed back in order does not count."""

import signal

import pytest
from durable_harness.broker import Broker, Worker
from durable_harness.plain import TASKS, ran, send
from durable_harness.standing import TOLD
from durable_harness.versions import needs_exits_that_are_losses, needs_requeue_at_limit
from durable_harness.waiting import wait_for

MOST = 3  # max_deliveries of the workers' app
DEAD = "SELECT reason, lost_count FROM kombu_dead_letter WHERE task_id = %s"


@pytest.fixture(autouse=True)
def told(broker: Broker) -> None:
    broker.query(TOLD)


def worker(broker: Broker, *arguments: str, **environment: str) -> Worker:
    return broker.worker("-I", TASKS, *(arguments or ("-c", "1")), **environment)


@pytest.mark.proof
@pytest.mark.parametrize(
    "name",
    [
        "is_killed",
        pytest.param("exits", marks=needs_exits_that_are_losses),
        pytest.param("sticks", marks=needs_requeue_at_limit),
    ],
)
def test_a_task_whose_process_ends_each_time_is_delivered_so_often_and_buried(broker: Broker, name: str) -> None:
    worker(broker)
    send(broker, name, task_id="poison")
    send(broker, "runs", task_id="neighbour")
    wait_for(lambda: broker.left() == 0)
    assert ran(broker, "poison") == [(1, 0), (2, 1), (3, 2)]
    assert broker.query(DEAD, "poison") == [("lost", MOST)]
    assert [lost for _, lost in ran(broker, "neighbour")] == [0]


@pytest.mark.proof
def test_a_task_that_takes_its_whole_node_along_is_buried_and_who_waited_with_it_is_not_charged(broker: Broker) -> None:
    send(broker, "takes_its_node_along", task_id="poison")
    send(broker, "runs", task_id="neighbour")
    for _ in range(MOST + 2):
        one = worker(broker)
        wait_for(lambda one=one: one.process.poll() is not None or broker.query(DEAD, "poison"))
        if broker.query(DEAD, "poison"):
            break
    # a first delivery that ends before the node's first heartbeat leaves no trace
    assert len(ran(broker, "poison")) in (MOST, MOST + 1)
    assert broker.query(DEAD, "poison") == [("lost", MOST)]
    wait_for(lambda: broker.left() == 0)
    assert [lost for _, lost in ran(broker, "neighbour")] == [0]


@pytest.mark.proof
def test_what_runs_is_marked_with_a_heartbeat_and_what_waits_is_not(broker: Broker) -> None:
    worker(broker)
    send(broker, "runs", 60, task_id="running")
    send(broker, "runs", task_id="waiting")
    started = "SELECT task_id FROM kombu_message WHERE started_at IS NOT NULL"
    wait_for(lambda: broker.query(started))
    renewed = "SELECT bool_and(visible_at > clock_timestamp() + interval '14 s') FROM kombu_message"
    wait_for(lambda: broker.value(renewed))  # by a later heartbeat
    assert broker.query(started) == [("running",)]


def test_a_task_that_gives_its_message_back_may_do_so_for_ever(broker: Broker) -> None:
    worker(broker)
    send(broker, "rejects", 2 * MOST, kwargs={"requeue": True}, task_id="patient")
    wait_for(lambda: broker.left() == 0)
    assert ran(broker, "patient") == [(number, 0) for number in range(1, 2 * MOST + 2)]
    assert broker.query(DEAD, "patient") == []


@pytest.mark.proof
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGQUIT], ids=["warm", "cold"])
def test_a_worker_that_is_stopped_charges_nobody(broker: Broker, how: signal.Signals) -> None:
    one = worker(broker)
    send(broker, "runs", 2 if how is signal.SIGTERM else 60, task_id="running")
    send(broker, "runs", task_id="waiting")
    wait_for(lambda: ran(broker, "running"))
    wait_for(lambda: broker.value("SELECT bool_or(started_at IS NOT NULL) FROM kombu_message"))
    one.stop(how)
    assert broker.value("SELECT coalesce(sum(lost_count), 0) FROM kombu_message") == 0
    assert broker.value("SELECT count(*) FROM kombu_message WHERE NOT visible") == 0
