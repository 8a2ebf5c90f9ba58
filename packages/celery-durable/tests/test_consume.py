"""Claims, leases and their ends, with plain kombu consumers in this process."""

from datetime import UTC, datetime
from math import inf
from time import monotonic
from typing import Any

import pytest
from celery_durable import node, schema
from celery_durable.database import direct
from celery_durable.publish import wake
from durable_harness.broker import Broker
from durable_harness.taker import Take
from durable_harness.waiting import wait_for
from kombu.exceptions import DecodeError


def losses(broker: Broker) -> list[tuple[Any, ...]]:
    return broker.query("SELECT visible, lost_count, lease_token, started_at FROM kombu_message")


def test_a_delivery_tells_its_token_and_counts_and_ends_with_its_ack(broker: Broker, taker: Take) -> None:
    broker.send("work", headers={"tenant": "ann", "mine": 1})
    (message,) = taker().take(1)
    [(visible, token, count, owner)] = broker.query(
        "SELECT visible, lease_token, delivery_count, lease_owner IS NOT NULL FROM kombu_message"
    )
    told = {
        name: message.headers[name]
        for name in ("lease_token", "delivery_count", "retry_count", "snooze_count", "lost_count")
    }
    assert (visible, count, owner) == (False, 1, True)
    assert told == {
        "lease_token": str(token),
        "delivery_count": 1,
        "retry_count": 0,
        "snooze_count": 0,
        "lost_count": 0,
    }
    assert (message.headers["tenant"], message.headers["mine"], message.delivery_info["redelivered"]) == (
        "ann",
        1,
        False,
    )
    message.ack()
    assert broker.left() == 0


def test_the_window_bounds_what_is_leased(broker: Broker, taker: Take) -> None:
    for number in range(5):
        broker.send("work", number, task_id=str(number))
    few = taker(prefetch=2)
    first = few.take(2)
    few.look(0.1)
    assert few.got == []
    assert [message.headers["id"] for message in first] == ["0", "1"]
    first[0].ack()
    assert [message.headers["id"] for message in few.take(1)] == ["2"]
    assert broker.value("SELECT count(*) FROM kombu_message WHERE visible") == 2


def test_no_window_still_takes_everything(broker: Broker, taker: Take) -> None:
    for _ in range(node.BATCH + 6):
        broker.send("work")
    assert len(taker(prefetch=0).take(node.BATCH + 6)) == node.BATCH + 6


def test_a_message_published_later_wakes_the_consumer(broker: Broker, taker: Take) -> None:
    waiting = taker(poll_seconds=60)
    waiting.look(0.05)
    broker.send("work")
    began = monotonic()
    waiting.take(1)
    assert monotonic() - began < 30  # the poll comes after a minute


@pytest.mark.proof
def test_a_delayed_message_comes_when_it_is_due_and_without_its_eta(broker: Broker, taker: Take) -> None:
    waiting = taker(poll_seconds=60)
    waiting.look(0.05)
    broker.send("work", countdown=0.5)
    due = broker.value("SELECT visible_at FROM kombu_message")
    (message,) = waiting.take(1)
    assert 0 <= (datetime.now(UTC) - due).total_seconds() < 30  # the poll comes after a minute
    assert message.headers["eta"] is None
    assert message.headers["requested_eta"]


def test_a_rejected_message_is_a_dead_letter(broker: Broker, taker: Take) -> None:
    broker.send("work", task_id="one", headers={"tenant": "ann"})
    taker().take(1)[0].reject()
    dead = broker.query("SELECT queue, task_id, user_id, reason, delivery_count FROM kombu_dead_letter")
    assert (dead, broker.left()) == ([("main", "one", "ann", "rejected", 1)], 0)


@pytest.mark.parametrize("started", [True, False])
def test_a_requeued_delivery_counts_as_lost_only_if_it_had_started(broker: Broker, taker: Take, started: bool) -> None:
    broker.send("work")
    (message,) = taker().take(1)
    if started:
        broker.query("UPDATE kombu_message SET started_at = now()")
    message.requeue()
    assert losses(broker) == [(True, int(started), None, None)]


def test_closing_hands_everything_back_without_a_charge(broker: Broker, taker: Take) -> None:
    broker.send("work")
    one = taker()
    one.take(1)
    broker.query("UPDATE kombu_message SET started_at = now()")
    one.connection.release()
    assert losses(broker) == [(True, 0, None, None)]
    assert taker().take(1)[0].headers["delivery_count"] == 2


def test_a_delivery_that_its_task_has_settled_leaves_room_and_writes_nothing(broker: Broker, taker: Take) -> None:
    for name in "abc":
        broker.send("work", task_id=name)
    one = taker(prefetch=1)
    (first,) = one.take(1)
    broker.query("DELETE FROM kombu_message WHERE task_id = 'a'")
    first.settled()
    (second,) = one.take(1)
    assert second.headers["id"] == "b"
    second.settled()  # and was not deleted: the lease is what brings it back
    assert [message.headers["id"] for message in one.take(1)] == ["c"]
    assert broker.query("SELECT task_id, visible FROM kombu_message ORDER BY id") == [("b", False), ("c", False)]


def test_an_ack_of_a_lease_that_went_to_another_changes_nothing(broker: Broker, taker: Take) -> None:
    broker.send("work")
    zombie = taker(lease_seconds=600, heartbeat_seconds=200)  # none comes meanwhile
    (old,) = zombie.take(1)
    broker.query("UPDATE kombu_message SET visible_at = now() - interval '1 s', started_at = now(), lease_owner = NULL")
    (new,) = taker().take(1)
    assert (new.headers["lost_count"], new.delivery_info["redelivered"]) == (1, True)
    old.ack()
    zombie.connection.release()
    assert broker.value("SELECT lease_token FROM kombu_message") == new.headers["lease_token"]


def test_a_held_lease_is_renewed_beyond_its_length(broker: Broker, taker: Take) -> None:
    broker.send("work")
    holder = taker(lease_seconds=60, heartbeat_seconds=0.2)
    holder.take(1)
    for _ in range(2):
        until = broker.value("SELECT visible_at FROM kombu_message")
        wait_for(lambda until=until: broker.value("SELECT visible_at > %s FROM kombu_message", until))
    assert broker.value("SELECT delivery_count FROM kombu_message") == 1


@pytest.mark.proof
def test_a_node_whose_sessions_are_gone_loses_its_leases_long_before_they_end(broker: Broker, taker: Take) -> None:
    broker.send("work")
    dead, heir = taker(lease_seconds=120), taker(lease_seconds=120)
    heir.look(0.05) if dead.take(1) else None
    broker.query("UPDATE kombu_message SET started_at = now()")
    # Its process is not scheduled any more, and its sessions end.
    dead.channel.node._heart.stop()
    broker.query("SELECT pg_terminate_backend(%s)", dead.channel.node.session._database.connection.info.backend_pid)
    began = monotonic()
    assert heir.take(1)[0].headers["lost_count"] == 1
    assert monotonic() - began < 60


@pytest.mark.proof
def test_a_consumer_survives_the_end_of_all_sessions_and_keeps_its_lease(broker: Broker, taker: Take) -> None:
    broker.send("work", task_id="held")
    steady = taker()
    (held,) = steady.take(1)
    broker.end_sessions()
    broker.send("work", task_id="next", retry=True)
    assert [message.headers["id"] for message in steady.take(1)] == ["next"]
    held.ack()
    assert broker.query("SELECT task_id FROM kombu_message") == [("next",)]


def test_a_paused_queue_is_not_claimed_until_it_is_resumed(broker: Broker, taker: Take) -> None:
    one = taker(poll_seconds=60)
    broker.query("UPDATE kombu_queue SET paused_at = now()")
    broker.send("work")
    one.look(0.3)
    assert one.got == []
    connection = broker.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("UPDATE kombu_queue SET paused_at = NULL")
        wake(connection, "main")
    connection.close()
    one.take(1)


@pytest.mark.parametrize("payload", ["no json", "[]", "{}", '{"headers": 1, "properties": {}}'])
def test_a_payload_nobody_can_read_is_a_dead_letter_and_the_next_one_comes(
    broker: Broker, taker: Take, payload: str
) -> None:
    one = taker()
    broker.query("INSERT INTO kombu_message (queue_id, payload) SELECT id, %s FROM kombu_queue", payload)
    broker.send("work", task_id="good")
    assert [message.headers["id"] for message in one.take(1)] == ["good"]
    wait_for(lambda: one.look() or broker.value("SELECT count(*) FROM kombu_dead_letter") == 1)
    assert broker.query("SELECT payload, reason FROM kombu_dead_letter") == [(payload, "undecodable")]


def test_a_body_that_cannot_be_decoded_is_a_dead_letter_even_when_it_is_acknowledged(
    broker: Broker, taker: Take
) -> None:
    payload = '{"headers": {}, "properties": {}, "content-type": "application/json", "content-encoding": "utf-8", "body": "{"}'
    one = taker()
    broker.query("INSERT INTO kombu_message (queue_id, payload) SELECT id, %s FROM kombu_queue", payload)
    (message,) = one.take(1)
    with pytest.raises(DecodeError):
        message.decode()
    message.ack()
    assert broker.query("SELECT payload, reason FROM kombu_dead_letter") == [(payload, "undecodable")]


def test_a_message_lost_too_often_is_a_dead_letter(broker: Broker, taker: Take) -> None:
    broker.send("work", task_id="poison")
    broker.query("UPDATE kombu_message SET lost_count = 2")
    one = taker(max_deliveries=2)
    wait_for(lambda: one.look() or broker.left() == 0)
    assert (one.got, broker.query("SELECT task_id, reason FROM kombu_dead_letter")) == ([], [("poison", "lost")])


@pytest.mark.parametrize(("order", "expected"), [("strict", "aaaab"), ("round_robin", "aabb")])
def test_queues_are_served_in_the_order_of_the_option(broker: Broker, taker: Take, order: str, expected: str) -> None:
    for number in range(4):
        broker.send("work", queue="b", task_id=f"b{number}")
        broker.send("work", queue="a", task_id=f"a{number}")
    one = taker("a", "b", prefetch=len(expected), queue_order=order)
    assert sorted(message.headers["id"][0] for message in one.take(len(expected))) == list(expected)


def test_a_spare_queue_is_read_only_while_so_many_processes_stay_free(broker: Broker, taker: Take) -> None:
    for number in range(6):
        broker.send("work", queue="b", task_id=f"b{number}")
    one = taker("a", "b", prefetch=4, spare_queues={"b": 2})
    first, second = one.take(2)
    for _ in range(5):
        one.look(0.02)
    assert one.got == []
    for number in range(3):
        broker.send("work", queue="a", task_id=f"a{number}")
    own = one.take(2)
    assert [message.headers["id"] for message in own] == ["a0", "a1"]
    first.ack()  # three are taken: the next one of its own comes, and no other
    assert [message.headers["id"] for message in one.take(1)] == ["a2"]
    for message in (second, *own):
        message.ack()
    assert [message.headers["id"] for message in one.take(1)] == ["b2"]


def test_while_there_is_no_room_for_a_spare_queue_the_node_is_idle(broker: Broker, taker: Take) -> None:
    for number in range(6):
        broker.send("work", queue="b", task_id=f"b{number}")
    one = taker("a", "b", prefetch=2, spare_queues={"b": 1})
    (message,) = one.take(1)
    one.look(0.02)
    reader = message.channel.node.reader
    reader.poll_at = reader.watch_at = inf
    assert message.channel.node.patience() > 0.05


def test_a_node_that_reads_only_spare_queues_has_nothing_to_keep(broker: Broker, taker: Take) -> None:
    for number in range(4):
        broker.send("work", queue="b", task_id=f"b{number}")
    one = taker("b", prefetch=4, spare_queues={"b": 3})
    assert len(one.take(4)) == 4


def test_without_listen_the_poll_finds_what_is_ready(broker: Broker, taker: Take) -> None:
    one = taker(listen=False, poll_seconds=0.2)
    one.look(0.05)
    broker.send("work")
    (message,) = one.take(1)
    assert broker.value("SELECT lease_owner FROM kombu_message") is None
    message.ack()
    assert broker.left() == 0


@pytest.mark.proof
def test_a_single_get_leases_one_message(broker: Broker) -> None:
    for name in "ab":
        broker.send("work", task_id=name)
    channel = broker.kombu().default_channel
    message = channel.basic_get("main")
    assert message.headers["id"] == "a"
    message.ack()
    assert channel.basic_get("main", no_ack=True).headers["id"] == "b"
    assert channel.basic_get("main") is None
    assert broker.left() == 0


def test_declaring_and_purging(broker: Broker) -> None:
    channel = broker.kombu().default_channel
    channel.queue_declare("q")
    channel.queue_declare("q")
    assert channel.queue_declare("q", passive=True).queue == "q"
    with pytest.raises(Exception, match="NOT_FOUND"):
        channel.queue_declare("none", passive=True)
    channel.basic_publish(channel.prepare_message("{}", headers={}), "", "q")
    assert (channel._size("q"), channel.queue_purge("q"), channel._size("q")) == (1, 1, 0)


def test_the_tables_may_be_in_a_schema_of_their_own(broker: Broker, taker: Take) -> None:
    options = {"schema": "post"}
    with broker.connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE SCHEMA post")
        schema.upgrade(connection, options)
    connection = broker.kombu(**options)
    connection.Producer().publish({}, routing_key="main")
    taker(**options).take(1)[0].ack()
    assert broker.value("SELECT count(*) FROM post.durable_message") == 0


def test_an_idle_node_sleeps_until_its_poll(broker: Broker, taker: Take) -> None:
    idle = taker(poll_seconds=60)
    for _ in range(2):  # the first one comes soon, as somebody may have died just before
        idle.look()
        idle.channel.node.reader.poll(10)
    assert idle.channel.node.reader.poll_at > monotonic() + 50
    broker.query("UPDATE kombu_judgement SET judged_at = now() - interval '1 h'")
    assert broker.query("SELECT ready, due, others FROM durable_poll(ARRAY['main'], 1, true, NULL)") == [
        ([], None, False)
    ]
    broker.send("nothing", countdown=3600)
    assert 3000 < broker.value("SELECT due FROM durable_poll(ARRAY['main'], 1, true, NULL)") <= 3600


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, "postgresql://ann:s%40@pooler/db"),
        ("postgresql://server/db", "postgresql://ann:s%40@server/db"),
        ("postgresql://ann@server/db", "postgresql://ann:s%40@server/db"),
        ("postgresql://bob@server/db", "postgresql://bob@server/db"),
        ("postgresql://bob:x@server/db?sslmode=require", "postgresql://bob:x@server/db?sslmode=require"),
    ],
)
def test_a_direct_url_may_leave_out_what_celery_would_print(given: str | None, expected: str) -> None:
    assert direct("postgresql://ann:s%40@pooler/db", given) == expected
