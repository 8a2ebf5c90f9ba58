"""Statements of the release before, through views of the names that the tables had, beside others that have waited."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg2
import pytest
from durable_harness.broker import Broker
from durable_harness.sessions import GIVE_BACK, Sessions

RENEW = """
    WITH free AS MATERIALIZED (
        SELECT id FROM kombu_message WHERE lease_token IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED),
    kept AS (
        UPDATE kombu_message SET
               visible_at = clock_timestamp() + make_interval(secs => 1800),
               started_at = CASE WHEN false THEN clock_timestamp() ELSE started_at END
         WHERE id IN (SELECT id FROM free) RETURNING task_id)
    SELECT task_id FROM kept"""
START = "UPDATE {} SET started_at = clock_timestamp() WHERE task_id = 'one' AND lease_token = %s::uuid"
COUNTS = "SELECT delivery_count, lost_count FROM broker_message WHERE task_id = 'one'"
#: What a stock message has.
COLUMNS = """
    id bigint, visible boolean, payload text, queue_id int, task_id text, user_id text, unique_key text,
    visible_at timestamptz, delay_reason text, rank bigint, rank_step int, lease_token uuid, lease_owner bigint,
    started_at timestamptz, delivery_count int, retry_count int, snooze_count int, lost_count int,
    cancel_requested_at timestamptz, enqueued_at timestamptz"""


@pytest.fixture
def sessions(broker: Broker) -> Iterator[Sessions]:
    broker.query("INSERT INTO durable_queue (name) VALUES ('main')")
    with ExitStack() as stack:
        yield Sessions(broker, stack)


@pytest.mark.parametrize("again", [True, False], ids=["claimed again", "ready"])
def test_a_start_under_a_lease_that_ends_meanwhile_changes_no_count(sessions: Sessions, *, again: bool) -> None:
    sessions.publish("one")
    lease = sessions.claim()
    rescuer, late = sessions.session(), sessions.session()
    rescuer.run(GIVE_BACK, *lease)
    if again:
        sessions.claim(rescuer)
    started = sessions.waits(late, START.format("kombu_message"), lease[1])
    rescuer.commit()
    assert started.result() == 0
    late.commit()
    assert sessions.broker.query(COUNTS) == [(1 + again, 1)]
    assert sessions.stands() == [("one", "leased" if again else "ready")]


@pytest.mark.parametrize(
    "change", ["cancel_requested_at = now()", "visible = false, visible_at = now() + interval '1 h'", "rank = 0"]
)
def test_a_change_of_what_is_being_claimed_takes_no_lease_away(sessions: Sessions, change: str) -> None:
    sessions.publish("one")
    node, web = sessions.session(), sessions.session()
    _, token = sessions.claim(node)
    changed = sessions.waits(web, f"UPDATE kombu_message SET {change} WHERE task_id = 'one'")
    node.commit()
    assert changed.result() == 0
    web.commit()
    assert sessions.broker.query("SELECT token::text FROM durable_lease") == [(token,)]
    assert sessions.stands() == [("one", "leased")]


def test_a_change_waits_for_another_one_and_keeps_it(sessions: Sessions) -> None:
    sessions.publish("one", tenant="ann")
    first, second = sessions.session(), sessions.session()
    first.run("UPDATE kombu_message SET lost_count = 3, unique_key = 'k' WHERE task_id = 'one'")
    changed = sessions.waits(second, "UPDATE kombu_message SET snooze_count = 2, user_id = NULL WHERE task_id = 'one'")
    first.commit()
    assert changed.result() == 1
    second.commit()
    found = """
        SELECT lost_count, unique_key, snooze_count, m.tenant, r.tenant
          FROM durable_message m JOIN durable_ready r USING (id)"""
    assert sessions.broker.query(found) == [(3, "k", 2, None, "")]


@pytest.mark.parametrize("view", ["broker_message", "kombu_message"])
def test_the_other_leases_are_renewed_while_a_start_is_open(sessions: Sessions, view: str) -> None:
    sessions.publish("one")
    _, token = sessions.claim()
    sessions.publish("two")
    sessions.claim()
    worker, node = sessions.session(), sessions.session()
    assert worker.run(START.format(view), token) == 1
    assert node.run(RENEW) == [("two",)]
    worker.commit()
    node.commit()


def test_a_renewal_leaves_a_start_that_it_has_not_seen(sessions: Sessions) -> None:
    """The start of this release's BEGIN holds the lease only, so the renewal waits for it there."""
    sessions.publish("one")
    sessions.claim()
    worker, node = sessions.session(), sessions.session()
    worker.run("UPDATE durable_lease SET started_at = clock_timestamp()")
    renewed = sessions.waits(node, RENEW)
    worker.commit()
    assert renewed.result() == [("one",)]
    node.commit()
    kept = "SELECT started_at IS NOT NULL, until > now() + interval '20 min' FROM durable_lease"
    assert sessions.broker.query(kept) == [(True, True)]


def test_an_update_that_changes_a_lease_and_a_count_changes_both(sessions: Sessions) -> None:
    sessions.publish("one")
    sessions.claim()
    sessions.broker.query("UPDATE kombu_message SET lease_owner = 5, delivery_count = 7, payload = 'new'")
    found = "SELECT l.node, m.delivery_count, m.payload FROM durable_lease l JOIN durable_message m USING (id)"
    assert sessions.broker.query(found) == [(5, 6, "new")]
    sessions.broker.query("UPDATE kombu_message SET visible = true, lease_token = NULL")
    assert sessions.broker.query("SELECT visible, delivery_count FROM kombu_message") == [(True, 7)]
    assert sessions.stands() == [("one", "ready")]


def test_a_message_keeps_its_id(sessions: Sessions) -> None:
    sessions.publish("one", "two")
    broker = sessions.broker
    one, two = (found for (found,) in broker.query("SELECT id FROM durable_message ORDER BY id"))
    kept = broker.query("SELECT * FROM durable_message ORDER BY id")
    for new in (two, two + 1, None):
        with pytest.raises(psycopg2.errors.FeatureNotSupported, match="id of a message may not be changed"):
            broker.query("UPDATE kombu_message SET id = %s WHERE id = %s", new, one)
    assert broker.query("SELECT * FROM durable_message ORDER BY id") == kept
    assert sessions.stands() == [("one", "ready"), ("two", "ready")]
    broker.query("UPDATE kombu_message SET id = id, rank = 7 WHERE id = %s", one)
    assert broker.value("SELECT rank FROM durable_ready WHERE id = %s", one) == 7


def test_a_table_of_somebody_s_writes_nothing_with_the_trigger_of_the_view(sessions: Sessions) -> None:
    sessions.publish("victim")
    victim = sessions.broker.value("SELECT id FROM durable_message")
    sessions.broker.query(
        "CREATE ROLE thief; GRANT USAGE ON SCHEMA public TO thief; GRANT TEMP ON DATABASE postgres TO thief"
    )
    sessions.broker.stack.callback(sessions.broker.query, "DROP OWNED BY thief; DROP ROLE thief")
    trigger = "CREATE TRIGGER t BEFORE DELETE ON mine FOR EACH ROW EXECUTE FUNCTION public.kombu_message_write()"
    thief, owner = sessions.session(), sessions.session()
    thief.run("SET ROLE thief")
    thief.run(f"CREATE TEMP TABLE mine ({COLUMNS})")
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match="for function"):
        thief.run(trigger)
    thief.connection.rollback()
    owner.run(f"CREATE TEMP TABLE mine ({COLUMNS})")
    owner.run("INSERT INTO mine (id) VALUES (%s)", victim)
    owner.run(trigger)
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match="through kombu_message only"):
        owner.run("DELETE FROM mine")
    owner.connection.rollback()
    assert sessions.stands() == [("victim", "ready")]


def test_no_function_with_the_owner_s_rights_is_everybody_s(broker: Broker) -> None:
    """And each has its search path."""
    found = """
        SELECT p.proname,
               EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) WHERE grantee = 0),
               EXISTS (SELECT FROM unnest(p.proconfig) AS c WHERE c ~ '^search_path=.*pg_temp$')
          FROM pg_proc AS p WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace"""
    functions = {name: rest for name, *rest in broker.query(found)}
    assert "kombu_message_write" in functions and "durable_publish" in functions
    assert {name: rest for name, rest in functions.items() if rest != [False, True]} == {}
