"""What two transactions do to one message at the same time: whoever comes second sees what the first one did."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg2
import pytest
from celery_durable.messages import delete, fence, start
from durable_harness.broker import Broker
from durable_harness.sessions import CLAIM, GIVE_BACK, Sessions
from durable_harness.waiting import wait_for

VIEWS = ["broker_message", "kombu_message"]
DELETES = {view: (f"DELETE FROM {view} WHERE task_id = 'one' AND lease_token = %s::uuid", 0) for view in VIEWS} | {
    "function": ("SELECT broker_finish('one', %s::uuid)", [(False,)])
}
STRICT = ["REPEATABLE READ", "SERIALIZABLE"]
PARK = "SELECT broker_park('main', 'ann', 30)"
MOVE = "SELECT broker_move('ann', 'main', 'other')"
PROMOTE = "SELECT durable_promote(id, '-infinity', 'infinity', true, 9) FROM durable_queue WHERE name = 'main'"
CANCEL = "SELECT broker_request_cancel(%s)"
WRITES = [
    "SELECT broker_hold('one')",
    "SELECT broker_request_cancel('one')",
    "SELECT broker_delete('one')",
    "DELETE FROM broker_message WHERE task_id = 'one'",
]
START = "UPDATE broker_message SET started_at = now() WHERE task_id = 'one' AND lease_token = %s::uuid"
CALLED_START = "SELECT broker_start('one', %s::uuid)"


@pytest.fixture
def sessions(broker: Broker) -> Iterator[Sessions]:
    broker.query("INSERT INTO durable_queue (name) VALUES ('main'), ('other')")
    with ExitStack() as stack:
        yield Sessions(broker, stack)


@pytest.mark.parametrize(("delete", "nothing"), DELETES.values(), ids=DELETES)
@pytest.mark.parametrize("again", [True, False], ids=["claimed again", "ready"])
def test_a_delete_under_a_lease_that_ends_meanwhile_deletes_nothing(
    sessions: Sessions, delete: str, nothing: object, *, again: bool
) -> None:
    sessions.publish("one")
    lease = sessions.claim()
    rescuer, late = sessions.session(), sessions.session()
    rescuer.run(GIVE_BACK, *lease)
    new = sessions.claim(rescuer) if again else None
    deleted = sessions.waits(late, delete, lease[1])
    rescuer.commit()
    assert deleted.result() == nothing
    late.commit()
    assert sessions.stands() == [("one", "leased" if again else "ready")]
    assert new is None or sessions.broker.value("SELECT token::text FROM durable_lease") == new[1]


@pytest.mark.parametrize("view", VIEWS)
def test_a_delete_of_what_nobody_holds_spares_what_is_being_claimed(sessions: Sessions, view: str) -> None:
    sessions.publish("one")
    node, web = sessions.session(), sessions.session()
    sessions.claim(node)
    deleted = sessions.waits(web, f"DELETE FROM {view} WHERE task_id = 'one' AND lease_token IS NULL")
    node.commit()
    assert deleted.result() == 0
    web.commit()
    assert sessions.stands() == [("one", "leased")]


@pytest.mark.parametrize("view", VIEWS)
def test_a_delete_of_what_nobody_holds_finds_it_where_it_has_gone_to(sessions: Sessions, view: str) -> None:
    sessions.publish("one", tenant="ann")
    worker, web = sessions.session(), sessions.session()
    assert worker.run(PARK) == [(1,)]
    deleted = sessions.waits(web, f"DELETE FROM {view} WHERE task_id = 'one' AND lease_token IS NULL")
    worker.commit()
    assert deleted.result() == 1
    web.commit()
    assert sessions.stands() == []
    assert sessions.broker.value("SELECT count(*) FROM durable_waiting") == 0


def test_a_message_is_deleted_whoever_holds_it_and_also_while_it_is_being_claimed(sessions: Sessions) -> None:
    sessions.publish("one", "due")
    sessions.publish("later", delay=60)
    node, web = sessions.session(), sessions.session()
    assert len(node.run(CLAIM)) == 2
    deleted = sessions.waits(web, "SELECT broker_delete('one')")
    node.commit()
    assert deleted.result() == [(1,)]
    web.commit()
    assert sessions.broker.value("SELECT broker_delete('later')") == 1
    assert sessions.broker.value("SELECT broker_delete('nobody')") == 0
    assert sessions.stands() == [("due", "leased")]


def test_of_a_task_on_two_queues_the_message_of_the_lease_is_deleted(sessions: Sessions) -> None:
    sessions.publish("one")
    _, token = sessions.claim()
    sessions.broker.query("SELECT durable_publish('other', '{}', 'one', NULL, NULL, 60, 100, 'other')")
    assert sessions.broker.value("SELECT broker_finish('one', gen_random_uuid())") is False
    assert sessions.broker.value("SELECT broker_finish('one', %s::uuid)", token) is True
    assert sessions.stands() == [("one", "eta")]


def test_a_delivery_is_told_as_it_is_now(sessions: Sessions) -> None:
    sessions.publish("one", tenant="ann")
    held, token = sessions.claim()
    told = "SELECT id, queue_id = (SELECT id FROM durable_queue WHERE name = 'main'), group_name, cancel_requested_at IS NULL"
    for function in ("broker_delivery", "broker_fence"):
        assert sessions.broker.query(f"{told} FROM {function}('one', %s::uuid)", token) == [(held, True, "ann", True)]
        assert sessions.broker.query(f"{told} FROM {function}('one', gen_random_uuid())") == []


def test_a_task_s_message_on_each_queue_is_deleted(sessions: Sessions) -> None:
    sessions.publish("one")
    sessions.broker.query("SELECT durable_publish('other', '{}', 'one', NULL, NULL, 60, 100, 'other')")
    assert sessions.broker.value("SELECT broker_delete('one')") == 2
    assert sessions.stands() == []


def test_who_starts_and_ends_a_message_in_one_transaction_meets_a_delete(sessions: Sessions) -> None:
    """A start locks the message first, as a delete does: else each would wait for the other."""
    sessions.publish("one")
    _, token = sessions.claim()
    worker, web = sessions.session(), sessions.session()
    assert worker.run(START, token) == 1
    deleted = sessions.waits(web, "DELETE FROM broker_message WHERE task_id = 'one'")
    assert worker.run("DELETE FROM broker_message WHERE task_id = 'one' AND lease_token = %s::uuid", token) == 1
    worker.commit()
    assert deleted.result() == 0


def test_a_start_without_the_fence_meets_a_delete(sessions: Sessions) -> None:
    sessions.publish("one")
    _, token = sessions.claim()
    worker, web = sessions.session(), sessions.session()
    start(worker.connection, "one", token)
    deleted = sessions.waits(web, "SELECT broker_delete('one')")
    assert fence(worker.connection, "one", token)
    delete(worker.connection, "one", token)
    worker.commit()
    assert deleted.result() == [(0,)]


@pytest.mark.parametrize(("begin", "nothing"), [(START, 0), (CALLED_START, [(False,)])], ids=["view", "function"])
@pytest.mark.parametrize("again", [True, False], ids=["claimed again", "ready"])
def test_a_start_whose_lease_ends_meanwhile_starts_nothing(
    sessions: Sessions, begin: str, nothing: object, *, again: bool
) -> None:
    sessions.publish("one")
    lease = sessions.claim()
    rescuer, late = sessions.session(), sessions.session()
    rescuer.run(GIVE_BACK, *lease)
    if again:
        sessions.claim(rescuer)
    started = sessions.waits(late, begin, lease[1])
    rescuer.commit()
    assert started.result() == nothing
    late.commit()
    assert sessions.stands() == [("one", "leased" if again else "ready")]
    assert sessions.broker.query("SELECT FROM durable_lease WHERE started_at IS NOT NULL") == []


def test_who_parks_a_message_and_locks_it_then_meets_a_delete(sessions: Sessions) -> None:
    sessions.publish("one", "two", tenant="ann")
    worker, web = sessions.session(), sessions.session()
    assert worker.run(PARK) == [(2,)]
    deleted = sessions.waits(web, "SELECT broker_delete('two')")
    worker.run(CANCEL, "two")
    worker.commit()
    assert deleted.result() == [(1,)]
    web.commit()
    assert sessions.stands() == [("one", "parked")]


def test_a_cancellation_reaches_what_is_being_parked(sessions: Sessions) -> None:
    sessions.publish("one", "two", tenant="ann")
    worker, web = sessions.session(), sessions.session()
    assert worker.run(PARK) == [(2,)]
    cancelled = sessions.waits(web, CANCEL, "two")
    worker.commit()
    cancelled.result()
    web.commit()
    assert sessions.stands() == [("one", "parked"), ("two", "ready")]


def test_what_is_being_cancelled_is_not_parked(sessions: Sessions) -> None:
    sessions.publish("one", "two", tenant="ann")
    worker, web = sessions.session(), sessions.session()
    web.run(CANCEL, "two")
    assert worker.run(PARK) == [(1,)]
    web.commit()
    worker.commit()
    assert sessions.stands() == [("one", "parked"), ("two", "ready")]
    assert sessions.meanwhile(lambda session: session.run(PARK)) == [(0,)]


def test_a_message_that_somebody_holds_is_not_parked(sessions: Sessions) -> None:
    sessions.publish("one", "two", tenant="ann")
    web = sessions.session()
    web.run("SELECT FROM broker_message WHERE task_id = 'two' FOR UPDATE")
    assert sessions.meanwhile(lambda session: session.run(PARK)) == [(1,)]
    web.commit()
    assert sessions.stands() == [("one", "parked"), ("two", "ready")]


def test_a_revocation_finds_what_was_parked_while_it_looked(sessions: Sessions) -> None:
    sessions.publish("one", "two", tenant="ann")
    worker, web = sessions.session(), sessions.session()
    worker.run("SELECT FROM broker_message WHERE task_id = 'one' FOR UPDATE")
    assert worker.run(PARK) == [(2,)]
    assert web.run("SELECT durable_revoke('{one,two}')") == []  # locked: skipped, and not half deleted
    web.commit()
    worker.commit()
    assert web.run("SELECT durable_revoke('{one,two}')") == [("one",), ("two",)]


@pytest.mark.parametrize(
    ("delay", "act"),
    [(None, PARK), (None, MOVE), (60.0, MOVE), (60.0, "SELECT broker_wake('main', 'ann', 9)"), (0.0, PROMOTE)],
)
def test_what_is_skipped_since_its_message_is_locked_is_not_locked_either(
    sessions: Sessions, delay: float | None, act: str
) -> None:
    """Else whoever holds the message would wait for the rest of that transaction, and it perhaps for them."""
    sessions.publish("one", tenant="ann", delay=delay)
    sessions.broker.query("UPDATE durable_waiting SET reason = 'snooze' WHERE due_at > now()")
    web, other = sessions.session(), sessions.session()
    web.run("SELECT FROM broker_message WHERE task_id = 'one' FOR UPDATE")
    other.run(act)
    free = "SELECT count(*) FROM (SELECT FROM {} FOR UPDATE SKIP LOCKED) AS free"
    assert sum(sessions.broker.value(free.format(table)) for table in ("durable_ready", "durable_waiting")) == 1


def test_an_expired_lease_is_not_locked_when_its_message_is(sessions: Sessions) -> None:
    sessions.publish("one")
    sessions.broker.query("SELECT durable_claim('main', 1, 7, 0, 0, 0)")
    web, node = sessions.session(), sessions.session()
    web.run("SELECT FROM broker_message WHERE task_id = 'one' FOR UPDATE")
    free = "SELECT count(*) FROM (SELECT FROM durable_lease FOR UPDATE SKIP LOCKED) AS free"
    for act in (
        PROMOTE,
        "SELECT durable_rescue(7, '-infinity', 9)",
        "SELECT durable_give_back(array_agg(id), array_agg(token), 'died') FROM durable_lease",
    ):
        node.run(act)
        assert sessions.broker.value(free) == 1


def test_a_group_is_forgotten_of_what_is_leased_then_and_not_of_what_has_come_back(sessions: Sessions) -> None:
    sessions.publish("one", tenant="ann")
    lease = sessions.claim()
    sessions.publish("two", tenant="ann")
    sessions.claim()
    rescuer, web = sessions.session(), sessions.session()
    rescuer.run(GIVE_BACK, *lease)
    forgotten = sessions.waits(web, "SELECT broker_forget('ann')")
    rescuer.commit()
    forgotten.result()
    web.commit()
    found = """
        SELECT m.task_id, m.tenant, r.tenant FROM durable_message m LEFT JOIN durable_ready r USING (id) ORDER BY 1"""
    assert sessions.broker.query(found) == [("one", "ann", "ann"), ("two", None, None)]


@pytest.mark.parametrize("act", ["SELECT broker_hold('one')", "SELECT broker_delete('one')", CANCEL % "'one'"])
def test_a_cancellation_takes_the_messages_of_a_task_in_the_order_of_the_others(sessions: Sessions, act: str) -> None:
    """By their age, not by their queues: here the older one is on the second queue."""
    older = sessions.broker.value("SELECT durable_publish('other', '{}', 'one', NULL, NULL, NULL, 100, 'other')")
    sessions.publish("one")
    first, other, web = sessions.session(), sessions.session(), sessions.session()
    first.run("SELECT FROM durable_message WHERE id = %s FOR UPDATE", older)
    acted = sessions.waits(other, act)
    cancelled = sessions.waits(web, CANCEL, "one")
    first.commit()
    acted.result()
    other.commit()
    cancelled.result()
    web.commit()


@pytest.mark.parametrize("level", STRICT)
@pytest.mark.parametrize("act", WRITES)
@pytest.mark.parametrize("delay", [None, 0.0], ids=["parked", "promoted"])
def test_a_stricter_transaction_is_told_that_the_message_was_moved(
    sessions: Sessions, level: str, act: str, delay: float | None
) -> None:
    """It cannot see where the message is now.  To move one is no change of its row, so PostgreSQL does not tell."""
    sessions.publish("one", tenant="ann", delay=delay)
    strict = sessions.session(level)
    strict.run("SELECT FROM broker_queue")
    move = PARK if delay is None else PROMOTE
    sessions.meanwhile(lambda session: session.run(move))
    with pytest.raises(psycopg2.errors.SerializationFailure):
        strict.run(act)


@pytest.mark.parametrize("level", STRICT)
@pytest.mark.parametrize("delay", [None, 60.0], ids=["ready", "waiting"])
def test_a_stricter_transaction_holds_what_stays(sessions: Sessions, level: str, delay: float | None) -> None:
    sessions.publish("one", tenant="ann", delay=delay)
    strict = sessions.session(level)
    assert strict.run("SELECT broker_hold('one')") == [(True,)]
    assert sessions.broker.query(CLAIM) == []
    strict.commit()


def test_the_statement_after_a_lock_tells_where_the_message_stands(sessions: Sessions) -> None:
    """The statement that waited reads the present token, but for the rest the state before its wait, as README says."""
    look = "SELECT is_ready, lease_token, started_at IS NULL FROM broker_message WHERE task_id = 'one'"
    sessions.publish("one")
    lease = sessions.claim()
    sessions.meanwhile(lambda session: session.run(START, lease[1]))
    rescuer, web = sessions.session(), sessions.session()
    rescuer.run(GIVE_BACK, *lease)
    waited = sessions.waits(web, f"{look} FOR UPDATE")
    rescuer.commit()
    assert waited.result()[0][1] is None
    assert web.run(look) == [(True, None, True)]
    web.commit()


def test_a_session_that_waits_is_seen(sessions: Sessions) -> None:
    """The others of these tests would pass if nobody waited."""
    sessions.publish("one")
    first, second = sessions.session(), sessions.session()
    first.run("SELECT broker_hold('one')")
    held = sessions.waits(second, "SELECT broker_hold('one')")
    first.commit()
    wait_for(held.done)
    second.commit()
