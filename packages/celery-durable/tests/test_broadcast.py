"""Broadcast messages and the subscriptions that read them, with plain kombu in this process."""

import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

import pytest
from celery_durable import fanout
from celery_durable.announcements import Announcements
from celery_durable.broadcast import BroadcastSender
from celery_durable.options import Options
from durable_harness.broker import Broker
from durable_harness.waiting import wait_for
from kombu import Connection, Consumer, Exchange, Producer, Queue

NEWS = Exchange("news", type="fanout")
ROW = "INSERT INTO kombu_broadcast (exchange, routing_key, payload, expires_at) VALUES (%s, '', %s, now() + interval '1 h')"
PAYLOAD = '{"body": "%s", "headers": {}, "properties": {"body_encoding": "utf-8"}, "content-type": "text/plain"}'
LISTENING = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%LISTEN%%' AND pid <> pg_backend_pid()"

Read = Callable[..., "Reader"]


def words(message: Any) -> str:
    return message.body if isinstance(message.body, str) else message.body.decode()


class Reader:
    """A consumer of one transient queue."""

    def __init__(self, connection: Connection, queue: Queue) -> None:
        self.connection, self.got, self.queue = connection, [], queue
        self.consumer = Consumer(connection, [queue], on_message=lambda message: self.got.append(words(message)))
        self.consumer.consume()
        self.look()

    def look(self, seconds: float = 0.0) -> list[str]:
        """What has come in this time at most."""
        with suppress(socket.timeout):
            self.connection.drain_events(timeout=seconds)
        return self.got

    def wait(self, *wanted: str) -> None:
        wait_for(lambda: len(self.look(0.2)) >= len(wanted))
        assert self.look() == list(wanted)


@pytest.fixture
def reader(broker: Broker) -> Read:
    def make(exchange: Exchange = NEWS, key: str = "", **options: Any) -> Reader:
        queue = Queue(f"q{id(options)}", exchange, key, auto_delete=True, message_ttl=options.pop("ttl", None))
        return Reader(broker.kombu(**options), queue)

    return make


@pytest.fixture
def send(broker: Broker) -> Callable[..., None]:
    producer = Producer(broker.kombu())

    def send(body: str, exchange: Exchange = NEWS, key: str = "", **options: Any) -> None:
        declare = [exchange] if options.pop("declare", True) else []
        producer.publish(body, exchange=exchange.name, routing_key=key, declare=declare, serializer="raw", **options)

    return send


def test_every_reader_gets_what_is_sent_after_it_was_bound(broker: Broker, reader: Read, send: Any) -> None:
    send("old")
    first, second = reader(), reader(listen=False)
    send("new")
    first.wait("new")
    second.wait("new")
    assert broker.value("SELECT count(*) FROM kombu_broadcast") == 2
    assert broker.query("SELECT name FROM kombu_queue") == []


def test_an_answer_between_declare_and_consume_is_not_missed(broker: Broker, send: Any) -> None:
    queue = Queue("answers", Exchange("replies"), "me", exclusive=True, auto_delete=True)
    connection = broker.kombu()
    queue(connection.default_channel).declare()
    send("answer", Exchange("replies"), "me", declare=False)
    send("another's", Exchange("replies"), "you", declare=False)
    Reader(connection, queue).wait("answer")


def test_what_commits_late_and_out_of_order_comes_once(broker: Broker, reader: Read, send: Any) -> None:
    waiting = reader()
    early, late = broker.connect(), broker.connect()
    for connection, body in ((early, "early"), (late, "late")):
        with connection.cursor() as cursor:
            cursor.execute(ROW, ("news", PAYLOAD % body))
    late.commit()
    send("third")
    waiting.wait("late", "third")
    for _ in range(3):
        send("more")
    waiting.wait("late", "third", "more", "more", "more")
    early.commit()
    send("last")
    waiting.wait("late", "third", "more", "more", "more", "early", "last")
    early.close()
    late.close()


def test_what_is_sent_while_the_session_is_away_comes_afterwards(broker: Broker, reader: Read, send: Any) -> None:
    waiting = reader()
    send("one")
    waiting.wait("one")
    broker.end_sessions()
    broker.query(ROW, "news", PAYLOAD % "meanwhile")
    waiting.wait("one", "meanwhile")


def test_a_topic_is_matched_by_its_pattern(reader: Read, send: Any) -> None:
    topic = Exchange("topic", type="topic")
    waiting = reader(topic, "a.#")
    for key in ("a.b", "b.a", "a.b.c", "ab"):
        send(key, topic, key)
    waiting.wait("a.b", "a.b.c")


def test_nobody_waits_for_the_bell_alone_without_listen(reader: Read, send: Any) -> None:
    waiting = reader(listen=False, poll_seconds=60)
    send("one")
    began = monotonic()
    waiting.wait("one")
    assert monotonic() - began < 30  # the poll comes after a minute


@pytest.mark.proof
def test_rows_expire_and_are_removed(broker: Broker, reader: Read, send: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fanout, "TIDY_SECONDS", (0.05, 0.2))
    patient, hasty = reader(), reader(ttl=0.2)
    send("short", expiration=0.3)
    send("long")
    lives = "SELECT round(extract(epoch FROM expires_at - sent_at), 1)::float8 FROM kombu_broadcast ORDER BY id"
    assert broker.query(lives) == [(0.3,), (60.0,)]
    wait_for(lambda: broker.value("SELECT clock_timestamp() > max(sent_at) + interval '0.3 s' FROM kombu_broadcast"))
    patient.wait("long")
    assert hasty.look(0.1) == []
    wait_for(lambda: patient.look(0.1) and broker.value("SELECT count(*) FROM kombu_broadcast") == 1)


def test_rows_nobody_can_read_are_dropped_with_a_line_and_the_reader_lives(
    broker: Broker, reader: Read, send: Any, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = reader()
    for payload in ("", "null", "[]", "{}", '{"headers": null, "properties": {}}', '{"headers": {}, "properties": []}'):
        broker.query(ROW, "news", payload)
    broken = PAYLOAD.replace("utf-8", "base64") % "a"
    broker.query(ROW, "news", broken)
    with caplog.at_level(logging.ERROR):
        send("good")
        waiting.wait("good")
    assert caplog.text.count("broadcast_dropped") == 7


def test_the_last_reader_leaves_no_session_and_no_subscription(broker: Broker, reader: Read, send: Any) -> None:
    waiting = reader()
    assert broker.value(LISTENING) >= 0
    waiting.consumer.cancel()
    node = waiting.connection.default_channel.node
    assert (node.is_open, waiting.connection.transport.fanout.queues) == (False, {})
    send("unheard")
    again = Reader(waiting.connection, waiting.queue)
    send("heard")
    again.wait("heard")


def test_a_queue_that_is_shared_stays_a_row_though_it_is_not_durable(broker: Broker) -> None:
    connection = broker.kombu()
    Queue("shared", Exchange("shared"), "shared", durable=False, expires=60)(connection.default_channel).declare()
    assert broker.query("SELECT name FROM kombu_queue") == [("shared",)]


@pytest.mark.proof
def test_a_queue_with_one_consumer_is_reached_by_its_name_too(broker: Broker, send: Any) -> None:
    waiting = Reader(broker.kombu(), Queue("results", durable=False, auto_delete=True))
    send("result", Exchange(""), "results", declare=False)
    waiting.wait("result")


def test_a_message_can_be_fetched_without_a_consumer(broker: Broker, send: Any) -> None:
    queue = Queue("fetched", NEWS, auto_delete=True)(broker.kombu().default_channel)
    queue.declare()
    assert queue.get() is None
    send("one")
    send("two")
    assert [words(queue.get()), words(queue.get())] == ["one", "two"]
    assert queue.get() is None


class Ear:
    connected = True


@pytest.mark.parametrize("ear", [Ear(), None], ids=["listening", "deaf"])
def test_a_topic_nobody_reads_costs_one_question_while_a_node_listens(
    ear: Ear | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, asked, announcements = [1000.0], [], Announcements()
    monkeypatch.setattr("celery_durable.announcements.monotonic", lambda: now[0])
    sender = BroadcastSender(lambda _, row: asked.append(row["ask"]) or [], Options(), announcements)
    message = {"body": "", "headers": {}, "properties": {}, "content-type": "", "content-encoding": ""}
    if ear:
        announcements.begin(ear)
    for _ in range(60):
        sender.send(dict(message, properties={}), "topic", "a", if_wanted=True)
        now[0] += 1
    assert asked == ([True] if ear else [True] * 12)
    announcements.hear("topic")
    sender.send(dict(message, properties={}), "topic", "a", if_wanted=True)
    assert asked[-1] is False
