"""No message is parked without a group that wakes it, whoever commits between two statements of another session."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import pytest
from celery_durable.publish import producer_in
from durable_harness.broker import PREFIX, Broker
from durable_harness.waiting import wait_for

ORPHANS = """
    SELECT m.task_id FROM kombu_message m WHERE delay_reason = 'parked'
       AND NOT EXISTS (SELECT FROM kombu_group g WHERE g.queue_id = m.queue_id AND g.name = coalesce(m.user_id, ''))"""
GATE = 4711
WAITS = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = {GATE} AND NOT granted"
#: Whoever deletes a group stops at the gate.
STOP = f"""
    CREATE FUNCTION stop_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock({GATE});
        RETURN OLD;
    END $$;
    CREATE TRIGGER stop_at_gate BEFORE DELETE ON kombu_group FOR EACH {{}} EXECUTE FUNCTION stop_at_gate()"""


@dataclass
class Gate:
    """Sessions that the test steps."""

    broker: Broker
    keeper: Any
    pool: ThreadPoolExecutor
    stack: ExitStack

    def session(self) -> Any:
        return self.stack.enter_context(closing(self.broker.connect()))

    def until_it_stops(self, act: Callable[[], Any]) -> "Future[Any]":
        """Act in a thread, until it is over or waits at the gate."""
        acting = self.pool.submit(act)
        wait_for(lambda: acting.done() or self.broker.value(WAITS))
        return acting

    def open(self) -> None:
        self.keeper.rollback()


@pytest.fixture
def gate(broker: Broker) -> Iterator[Gate]:
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(1))
        keeper = stack.enter_context(closing(broker.connect()))
        with keeper.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_xact_lock({GATE})")
        yield Gate(broker, keeper, pool, stack)
        keeper.rollback()


def publish(broker: Broker, session: Any, task_id: str, **headers: Any) -> None:
    broker.app.send_task(f"{PREFIX}.nothing", task_id=task_id, queue="main", producer=producer_in(session),
                         headers={"tenant": "ann", **headers})  # fmt: skip


def wakes(broker: Broker, most: int = 1) -> list[Any]:
    return broker.query("SELECT broker_wake('main', 'ann', %s)", most)


@pytest.fixture
def parked(broker: Broker) -> Broker:
    """One message of ann, parked."""
    broker.send("nothing", headers={"tenant": "ann"}, task_id="ann0")
    broker.query("SELECT broker_park('main', 'ann', 30)")
    return broker


def test_what_a_publisher_commits_after_the_look_of_a_wake_is_woken_by_the_next(parked: Broker, gate: Gate) -> None:
    parked.query(STOP.format("STATEMENT"))
    publisher = gate.session()
    publish(parked, publisher, "ann1")
    waking = gate.until_it_stops(lambda: wakes(parked))
    publisher.commit()
    gate.open()
    assert waking.result() == [("ann0",)]
    assert parked.query(ORPHANS) == []
    assert wakes(parked) == [("ann1",)]
    assert parked.query("SELECT name FROM kombu_group") == []


@pytest.mark.parametrize("headers", [{}, {"most_ready": 1}], ids=["plain", "with most_ready"])
def test_what_is_published_while_its_group_is_forgotten_is_ready(
    parked: Broker, gate: Gate, headers: dict[str, int]
) -> None:
    parked.query("SELECT broker_request_cancel('ann0')")  # it is ready, and nothing of its group is parked
    parked.query(STOP.format("ROW"))
    forgetting = gate.until_it_stops(lambda: wakes(parked, 0))
    assert not forgetting.done()
    publisher = gate.session()
    publish(parked, publisher, "ann1", **headers)
    publisher.commit()
    gate.open()
    forgetting.result()
    assert parked.query(ORPHANS) == []
    assert parked.query("SELECT task_id FROM kombu_message WHERE visible ORDER BY id") == [("ann0",), ("ann1",)]


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_wake_that_cannot_see_what_was_published_meanwhile_leaves_the_group(
    parked: Broker, gate: Gate, level: str
) -> None:
    waker = gate.session()
    waker.set_session(isolation_level=level)
    with waker.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM kombu_message")  # its snapshot
        publish(parked, publisher := gate.session(), "ann1")
        publisher.commit()
        cursor.execute("SELECT broker_wake('main', 'ann', 9)")
        assert cursor.fetchall() == [("ann0",)]
    waker.commit()
    assert parked.query(ORPHANS) == []
    assert wakes(parked) == [("ann1",)]


def test_what_a_move_leaves_behind_because_it_is_locked_is_woken_there(parked: Broker, gate: Gate) -> None:
    parked.query("INSERT INTO kombu_queue (name) VALUES ('fast')")
    parked.send("nothing", headers={"tenant": "ann"}, task_id="ann1")
    with gate.session().cursor() as holder:
        holder.execute("SELECT FROM kombu_message WHERE task_id = 'ann0' FOR UPDATE")
        parked.query("SELECT broker_move('ann', 'main', 'fast')")
    assert parked.query(ORPHANS) == []
    assert parked.query("SELECT broker_wake('fast', 'ann', 1)") == [("ann1",)]


def test_a_group_that_moves_is_not_forgotten_by_a_wake_of_the_other_queue(parked: Broker, gate: Gate) -> None:
    parked.query("INSERT INTO kombu_queue (name) VALUES ('fast')")
    parked.query("INSERT INTO kombu_group SELECT id, 'ann', now(), 30 FROM kombu_queue WHERE name = 'fast'")
    mover = gate.session()
    with mover.cursor() as cursor:
        cursor.execute("SELECT broker_move('ann', 'main', 'fast')")
        parked.query("SELECT broker_wake('fast', 'ann', 1)")
    mover.commit()
    assert parked.query(ORPHANS) == []


def test_a_task_that_parks_on_a_queue_that_is_not_there_is_woken_where_it_is(broker: Broker) -> None:
    broker.send("nothing", headers={"tenant": "ann"}, task_id="ann0")
    token = broker.value(
        "UPDATE kombu_message SET visible = false, lease_token = gen_random_uuid() RETURNING lease_token"
    )
    broker.query("SELECT durable_retry('ann0', %s, 'nowhere', '{}', NULL, true, true, 30, 'nowhere')", token)
    assert broker.query(ORPHANS) == []
    assert wakes(broker) == [("ann0",)]


def test_a_group_that_is_published_to_while_its_name_is_taken_out_stays(parked: Broker, gate: Gate) -> None:
    parked.query("DELETE FROM kombu_message")
    publisher = gate.session()
    publish(parked, publisher, "ann1")
    blocked = "SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
    forgetting = gate.pool.submit(parked.query, "SELECT broker_forget('ann')")
    wait_for(lambda: forgetting.done() or parked.value(blocked))
    publisher.commit()
    forgetting.result()
    assert parked.query(ORPHANS) == []
    assert wakes(parked) == [("ann1",)]
