"""One task on two queues: each has a message of its own, from its publish to its end."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from celery_durable import DuplicateKey
from celery_durable.dead_letters import redrive
from celery_durable.messages import delete, fence, start
from celery_durable.park import park
from celery_durable.publish import producer_in
from durable_harness.broker import Broker
from durable_harness.taker import Take
from durable_harness.versions import needs_batches
from durable_harness.waiting import wait_for
from kombu import Exchange, Queue

PLACES = """
    SELECT q.name, m.task_id FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id ORDER BY q.name, m.id"""
BOTH = [("audit", "one"), ("mail", "one")]


def bound(kind: str) -> list[Queue]:
    exchange = Exchange(f"orders.{kind}", type=kind)
    keys = ("order.#", "order.paid") if kind == "topic" else ("order.paid", "order.paid")
    return [Queue(name, exchange, routing_key=key) for name, key in zip(("audit", "mail"), keys, strict=True)]


def declare(broker: Broker, queues: Sequence[Queue]) -> None:
    broker.app.conf.task_queues = queues
    with broker.app.pool.acquire() as connection:
        for queue in queues:
            queue(connection.default_channel).declare()


def routed(broker: Broker, kind: str = "topic", **options: Any) -> str:
    return broker.send(
        "nothing",
        exchange=f"orders.{kind}",
        exchange_type=kind,
        routing_key="order.paid",
        **{"task_id": "one", **options},
    )


@pytest.fixture
def topic(broker: Broker) -> Broker:
    """One task, sent to a topic that has both queues."""
    declare(broker, bound("topic"))
    routed(broker)
    return broker


@pytest.fixture
def both(broker: Broker) -> Broker:
    """One task, sent to both queues by their names."""
    for queue in ("audit", "mail"):
        broker.send("nothing", queue=queue, task_id="one")
    return broker


def lease(broker: Broker, queue: str) -> str:
    return str(
        broker.value(
            "UPDATE kombu_message SET visible = false, lease_token = gen_random_uuid(), visible_at = now() + interval '1 min'"
            " WHERE queue_id = (SELECT id FROM kombu_queue WHERE name = %s) RETURNING lease_token",
            queue,
        )
    )


@pytest.mark.parametrize("kind", ["topic", "direct"])
def test_an_exchange_that_routes_a_task_to_two_queues_reaches_both(broker: Broker, taker: Take, kind: str) -> None:
    declare(broker, bound(kind))
    routed(broker, kind)
    for name in ("audit", "mail"):
        [message] = taker(name).take(1)
        assert message.headers["id"] == "one"
        message.ack()
    routed(broker, kind)
    routed(broker, kind)  # again: no second message
    assert broker.query(PLACES) == BOTH


@needs_batches
def test_a_batch_reaches_both_queues_when_one_has_the_task_already(topic: Broker) -> None:
    topic.query("DELETE FROM kombu_message WHERE queue_id = (SELECT id FROM kombu_queue WHERE name = 'mail')")
    with topic.app.producer_pool.acquire() as producer, producer.batch():
        for task_id in ("one", "two"):
            routed(topic, task_id=task_id, producer=producer)
    assert topic.query(PLACES) == [("audit", "one"), ("audit", "two"), ("mail", "one"), ("mail", "two")]


@needs_batches
@pytest.mark.parametrize("headers", [{}, {"tenant": "ann", "most_ready": 9}], ids=["at once", "one after the other"])
def test_a_task_that_is_sent_to_two_queues_in_one_batch_is_on_both(broker: Broker, headers: dict[str, Any]) -> None:
    with closing(broker.connect()) as caller:
        producer = producer_in(caller)
        broker.send("nothing", queue="audit", task_id="two")  # the queues are there
        broker.send("nothing", queue="mail", task_id="one")
        with producer.batch():
            for queue in ("audit", "mail"):
                broker.send("nothing", queue=queue, task_id="one", producer=producer, headers=headers)
        caller.commit()
    assert broker.query(PLACES) == [("audit", "two"), ("audit", "one"), ("mail", "one")]


def test_a_unique_key_is_refused_where_a_message_would_go_to_two_queues(broker: Broker) -> None:
    declare(broker, bound("topic"))
    with pytest.raises(ValueError, match="unique_key goes to one queue, not to audit, mail"):
        routed(broker, headers={"unique_key": "k"})
    assert broker.left() == 0


def test_a_unique_key_is_held_by_the_same_task_on_another_queue(broker: Broker) -> None:
    broker.send("nothing", queue="audit", task_id="one", headers={"unique_key": "k"})
    with pytest.raises(DuplicateKey):
        broker.send("nothing", queue="mail", task_id="one", headers={"unique_key": "k"})
    assert broker.query(PLACES) == [("audit", "one")]


def test_each_message_is_fenced_started_and_ended_under_its_own_lease(both: Broker) -> None:
    audit, mail = lease(both, "audit"), lease(both, "mail")
    with closing(both.connect()) as caller:
        assert fence(caller, "one", mail)
        start(caller, "one", mail)
        caller.commit()
        assert both.query("SELECT q.name FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id"
                          " WHERE started_at IS NOT NULL") == [("mail",)]  # fmt: skip
        delete(caller, "one", mail)
        caller.commit()
        assert both.query(PLACES) == [("audit", "one")]
        assert fence(caller, "one", audit)
        assert not fence(caller, "one", mail)


def test_a_retry_through_the_exchange_stays_on_the_queue_of_its_delivery(topic: Broker, taker: Take) -> None:
    [message] = taker("mail").take(1)
    held = {"lease_token": message.headers["lease_token"], "lease_task": "one"}
    routed(topic, retries=1, countdown=60, headers=held)
    assert topic.query("SELECT q.name, m.retry_count, m.delay_reason FROM kombu_message m JOIN kombu_queue q"
                      " ON q.id = m.queue_id ORDER BY 1") == [("audit", 0, None), ("mail", 1, "retry")]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"park": True, "headers": {"tenant": "ann"}}], ids=["plain", "parked"])
def test_a_retry_to_the_queue_of_the_other_message_stays_on_its_own(both: Broker, options: dict[str, Any]) -> None:
    headers = {**options.pop("headers", {}), "lease_token": lease(both, "mail"), "lease_task": "one"}
    both.query("UPDATE kombu_message SET user_id = 'ann'")
    both.send("nothing", task_id="one", queue="audit", retries=1, countdown=60, headers=headers, **options)
    assert both.query(PLACES) == BOTH
    assert both.value("SELECT count(*) FROM kombu_message WHERE lease_token IS NULL") == 2
    if options:
        assert both.query("SELECT q.name FROM kombu_group g JOIN kombu_queue q ON q.id = g.queue_id") == [("mail",)]
        assert both.query("SELECT broker_wake('mail', 'ann', 1)") == [("one",)]


def test_a_retry_to_another_queue_moves_its_message_once(both: Broker) -> None:
    """However many queues there are: each further try may end otherwise, if the other message ends meanwhile."""
    both.query("INSERT INTO kombu_queue (name) SELECT 'queue' || n FROM generate_series(1, 20) AS n")
    both.query("CREATE TABLE tries (); CREATE FUNCTION note_try() RETURNS trigger LANGUAGE plpgsql AS"
               " $$ BEGIN INSERT INTO tries DEFAULT VALUES; RETURN NEW; END $$; CREATE TRIGGER note_try BEFORE UPDATE"
               " OF queue_id ON durable_message FOR EACH ROW EXECUTE FUNCTION note_try()")  # fmt: skip
    token = both.value("SELECT token FROM durable_claim('mail', 1, NULL, 15, 0, 0)")
    assert both.value("SELECT durable_retry('one', %s, 'queue7', '{}', 60, false, false, 0, 'queue7')", token)
    assert both.query(PLACES) == [("audit", "one"), ("queue7", "one")]
    assert both.value("SELECT count(*) FROM tries") == 1


def test_what_replaces_a_task_takes_the_place_of_its_message_on_that_queue(both: Broker) -> None:
    audit, _ = lease(both, "audit"), lease(both, "mail")
    both.send("nothing", task_id="one", queue="mail", countdown=60, replaced_task_nesting=1)
    assert both.query("SELECT q.name, m.lease_token::text, m.delay_reason FROM kombu_message m JOIN kombu_queue q"
                      " ON q.id = m.queue_id ORDER BY 1") == [("audit", audit, None), ("mail", None, "retry")]  # fmt: skip


def test_what_replaces_a_task_and_keeps_its_unique_key_goes_to_another_queue(broker: Broker) -> None:
    broker.send("nothing", queue="audit", task_id="two")
    broker.send("nothing", queue="mail", task_id="one", headers={"unique_key": "k"})
    lease(broker, "mail")
    broker.send("nothing", task_id="one", queue="audit", replaced_task_nesting=1, headers={"unique_key": "k"})
    assert broker.query(PLACES) == [("audit", "two"), ("audit", "one")]
    assert broker.value("SELECT count(*) FROM kombu_message WHERE lease_token IS NULL") == 2


def test_what_is_parked_of_a_task_has_the_rank_of_its_own_queue(both: Broker) -> None:
    both.query("UPDATE kombu_message SET user_id = 'ann', visible = false, lease_token = gen_random_uuid(),"
               " rank = CASE queue_id WHEN (SELECT id FROM kombu_queue WHERE name = 'mail') THEN 1000 ELSE 2000 END")  # fmt: skip
    both.query("SELECT broker_park('mail', 'ann', 30, 'one')")
    assert both.query("SELECT rank FROM kombu_group") == [(1000,)]


def test_a_group_moves_but_for_what_the_other_queue_has_already(both: Broker) -> None:
    both.query("UPDATE kombu_message SET user_id = 'ann'")
    both.send("nothing", queue="mail", task_id="two", headers={"tenant": "ann"})
    with closing(both.connect()) as connection:
        park(connection, "mail", "ann")
        connection.commit()
    both.query("SELECT broker_move('ann', 'mail', 'audit')")
    assert both.query(PLACES) == [("audit", "one"), ("audit", "two"), ("mail", "one")]
    assert both.query("SELECT broker_wake('mail', 'ann', 9)") == [("one",)]
    assert both.query("SELECT broker_wake('audit', 'ann', 9)") == [("two",)]


def test_a_group_moves_also_while_one_of_its_tasks_is_being_published_to_the_other_queue(broker: Broker) -> None:
    for task_id in ("one", "two"):
        broker.send("nothing", queue="mail", task_id=task_id, headers={"tenant": "ann"})
    broker.send("nothing", queue="audit", task_id="three")
    blocked = "SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
    with closing(broker.connect()) as publisher, ThreadPoolExecutor(1) as pool:
        broker.send("nothing", queue="audit", task_id="one", producer=producer_in(publisher))
        moving = pool.submit(broker.query, "SELECT broker_move('ann', 'mail', 'audit')")
        wait_for(lambda: moving.done() or broker.value(blocked))
        publisher.commit()
        moving.result()
    assert sorted(broker.query(PLACES)) == [("audit", "one"), ("audit", "three"), ("audit", "two"), ("mail", "one")]


def regroup(broker: Broker) -> Any:
    return broker.value("SELECT broker_regroup('one', 'bob', 'audit', NULL, 100, 30)")


def test_a_message_is_regrouped_on_the_queue_that_is_named(both: Broker) -> None:
    assert regroup(both) == "ready"
    assert both.query("SELECT q.name, m.user_id FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id"
                      " ORDER BY 1") == [("audit", "bob"), ("mail", None)]  # fmt: skip


def test_a_message_is_not_regrouped_to_where_a_worker_holds_the_other(both: Broker) -> None:
    lease(both, "audit")
    assert regroup(both) is None
    assert both.query(PLACES) == BOTH
    assert both.query("SELECT DISTINCT user_id FROM kombu_message") == [(None,)]


def test_a_cancellation_is_asked_of_all_messages_of_a_task(both: Broker) -> None:
    both.query("SELECT broker_request_cancel('one')")
    assert both.value("SELECT count(*) FROM kombu_message WHERE cancel_requested_at IS NOT NULL") == 2


def test_a_dead_letter_goes_back_to_its_queue_beside_the_message_of_another(both: Broker) -> None:
    both.query("INSERT INTO kombu_dead_letter (queue, task_id, payload, reason) SELECT q.name, task_id, payload, 'lost'"
               " FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id")  # fmt: skip
    both.query("DELETE FROM kombu_message WHERE queue_id = (SELECT id FROM kombu_queue WHERE name = 'mail')")
    with closing(both.connect()) as connection:
        done = redrive(connection)
        connection.commit()
    assert (len(done.put), list(done.kept.values())) == (1, ["in the way"])
    assert both.query(PLACES) == BOTH


def test_a_message_that_somebody_holds_shared_goes_to_another_queue(broker: Broker) -> None:
    broker.send("nothing", queue="mail", task_id="one", headers={"tenant": "ann"})
    broker.send("nothing", queue="audit", task_id="two")
    with closing(broker.connect()) as holder, holder.cursor() as cursor:
        cursor.execute("SELECT FROM broker_message WHERE task_id = 'one' FOR KEY SHARE")
        broker.query("SET lock_timeout = '1s'; SELECT broker_move('ann', 'mail', 'audit')")
    assert broker.query(PLACES) == [("audit", "one"), ("audit", "two")]
