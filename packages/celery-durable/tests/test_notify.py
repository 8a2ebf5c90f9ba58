"""Who is told of a message, and when: sleepers on commit, nobody else."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import pytest
from celery_durable import fleet
from celery_durable.envelope import Letter
from celery_durable.options import Options
from celery_durable.publish import producer_in, put, wake
from celery_durable.statements import statements
from celery_durable.template import send_many
from durable_harness.broker import PREFIX, Broker
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for
from psycopg2.errors import QueryCanceled

SQL = statements(Options())


def letter(*, task_id: str, token: str, countdown: float | None = None) -> Letter:
    """A retry."""
    return Letter(
        queue="main", payload="{}", task_id=task_id, tenant=None, unique_key=None, delay=countdown, step=100,
        lease_token=token, is_retry=True,
    )  # fmt: skip


class Listener:
    """What a node would hear."""

    def __init__(self, broker: Broker) -> None:
        self.connection = broker.connect()
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.cursor.execute("LISTEN kombu_message")

    def heard(self) -> list[str]:
        """Since the last time."""
        self.cursor.execute("SELECT")  # notifications come with an answer, in the order of the commits
        told = sorted(notify.payload.partition("\t")[0] for notify in self.connection.notifies)
        self.connection.notifies.clear()
        return told


@pytest.fixture
def listener(broker: Broker) -> Iterator[Listener]:
    listener = Listener(broker)
    yield listener
    listener.connection.close()


def sleeper(broker: Broker, prefetch: int = 1) -> Taker:
    """A consumer that has looked and found nothing."""
    taker = Taker(broker.kombu(poll_seconds=60), ("main",), prefetch)
    taker.look()
    wait_for(lambda: taker.look(0.01) or taker.channel.node.reader._positions["main"].sleep == 2)
    return taker


def test_sleepers_are_told_on_commit_and_not_before(broker: Broker, listener: Listener) -> None:
    taker = sleeper(broker)
    publisher = broker.connect()
    broker.send("work", producer=producer_in(publisher), queue="main")
    broker.send("work", producer=producer_in(publisher), queue="main", countdown=9)
    wake(publisher, "other")
    assert listener.heard() == []
    publisher.commit()
    publisher.close()
    assert listener.heard() == ["main", "main", "other"]
    taker.take(1)


def test_who_is_at_work_is_not_told(broker: Broker, listener: Listener) -> None:
    taker = sleeper(broker)
    broker.send("work")
    broker.send("work")
    taker.take(1)  # its window is full
    listener.heard()
    for _ in range(3):
        broker.send("work")
    with broker.connect() as connection:
        send_many(connection, broker.app, f"{PREFIX}.work", [((), {})] * 5, queue="main")
    assert listener.heard() == []
    taker.connection.close()


def test_many_messages_wake_who_sleeps_once(broker: Broker, listener: Listener) -> None:
    taker = sleeper(broker)
    listener.heard()
    with broker.connect() as connection:
        send_many(connection, broker.app, f"{PREFIX}.work", [((), {})] * 5, queue="main")
    assert listener.heard() == ["main"]
    taker.take(1)
    taker.connection.close()


def test_who_looks_in_time_by_itself_is_not_told_of_what_is_due_later(broker: Broker, listener: Listener) -> None:
    taker = sleeper(broker)  # looks every minute
    listener.heard()
    later, sooner = {"countdown": 3600}, {"countdown": 20}
    for expected, when in ([], later), (["main"], sooner):
        broker.send("work", **when)
        with broker.connect() as connection:
            send_many(connection, broker.app, f"{PREFIX}.work", [((), {})] * 5, queue="main", **when)
        broker.send("work")
        (message,) = taker.take(1)
        listener.heard()
        put(
            taker.channel._run, SQL, letter(task_id=message.headers["id"], token=message.headers["lease_token"], **when)
        )
        assert listener.heard() == expected
        assert broker.value("SELECT count(*) FROM kombu_message WHERE delay_reason = 'retry'") == 1
        message.settled()
        broker.query("DELETE FROM kombu_message")


@pytest.mark.proof
def test_what_nobody_was_told_of_is_delivered_when_it_is_due(broker: Broker, listener: Listener) -> None:
    quick = Taker(broker.kombu(poll_seconds=0.5), ("main",), 1)
    quick.look(0.1)
    listener.heard()
    broker.send("work", countdown=3600)
    assert listener.heard() == []
    broker.query("UPDATE kombu_message SET visible_at = now() + interval '1 s'")
    due = broker.value("SELECT visible_at FROM kombu_message")
    quick.take(1)
    assert 0 <= (broker.value("SELECT visible_at FROM kombu_message") - due).total_seconds() - 15 < 30


def test_a_node_of_a_release_that_does_not_say_how_often_it_looks_is_told_at_once(
    broker: Broker, listener: Listener
) -> None:
    sleeper(broker)
    broker.query("UPDATE kombu_node SET poll_seconds = NULL")
    listener.heard()
    broker.send("work", countdown=3600)
    assert listener.heard() == ["main"]


@pytest.fixture
def slowly(broker: Broker) -> Iterator[Any]:
    """A publisher's session in which each lock, once it was got, is held for a while before the next statement."""
    connection = broker.connect()
    connection.autocommit = True
    with connection.cursor() as cursor:
        for function in ("pg_try_advisory_lock", "pg_try_advisory_xact_lock"):
            cursor.execute(f"""
                CREATE FUNCTION public.{function}(a integer, b integer) RETURNS boolean LANGUAGE plpgsql AS $$
                DECLARE got boolean := pg_catalog.{function}(a, b);
                BEGIN PERFORM pg_sleep(30); RETURN got; END $$""")
        # a publish has a path of its own, where nobody else's functions come first
        cursor.execute("ALTER FUNCTION durable_publish SET search_path = public, pg_catalog")
        cursor.execute("SET statement_timeout = 200")
    yield connection
    connection.close()


def test_a_publish_that_is_cancelled_in_the_middle_leaves_no_lock_behind(broker: Broker, slowly: Any) -> None:
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main') ON CONFLICT DO NOTHING")
    with pytest.raises(QueryCanceled, match="statement timeout"):
        broker.send("work", producer=producer_in(slowly), queue="main")
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = %s"
    assert broker.value(held, slowly.info.backend_pid) == 0


def test_a_lock_that_somebody_holds_for_ever_blocks_no_claim(broker: Broker) -> None:
    one = Taker(broker.kombu(poll_seconds=60), ("main",), 10)
    foreign = broker.connect()
    with foreign.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext('kombu_message asleep'), id) FROM kombu_queue")
    for _ in range(3):
        broker.send("work")
        one.take(1)[0].ack()
    foreign.close()


def test_nobody_is_told_when_nobody_is_there(broker: Broker, listener: Listener) -> None:
    broker.send("work")
    assert listener.heard() == []


def test_another_node_that_sleeps_is_told_though_one_is_at_work(broker: Broker, listener: Listener) -> None:
    busy, idle = sleeper(broker), sleeper(broker)
    broker.send("work")
    busy.take(1)
    listener.heard()
    broker.send("work")
    assert listener.heard() == ["main"]
    assert len(idle.take(1)) == 1


def test_a_publisher_that_did_not_see_the_sleeper_is_waited_for(
    broker: Broker, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    taker = sleeper(broker)
    monkeypatch.setattr(fleet, "WATCH_SECONDS", 60)
    broker.send("work")
    (first,) = taker.take(1)
    broker.send("work")
    publisher = broker.connect()
    broker.send("work", producer=producer_in(publisher), queue="main")  # the only node is at work: tells nobody
    first.ack()
    taker.take(1)[0].ack()
    wait_for(lambda: taker.look(0.01) or taker.channel.node.reader._positions["main"].sleep == 1)
    listener.heard()
    publisher.commit()
    publisher.close()
    assert listener.heard() == []
    began = monotonic()
    taker.take(1)
    assert monotonic() - began < 30  # the next look comes after a minute


def test_publishers_do_not_wait_for_each_other(broker: Broker) -> None:
    sleeper(broker)
    connections = [broker.connect() for _ in range(3)]
    for connection in connections:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 100")
        broker.send("work", producer=producer_in(connection), queue="main")
    for connection in connections:
        connection.commit()
        connection.close()
    assert broker.left() == 3


@pytest.mark.proof
def test_no_message_is_left_with_a_sleeper_whatever_the_order(broker: Broker) -> None:
    """Publishers of all speeds against a consumer that falls asleep between any two messages."""
    number, publishers = 150, 4

    def publish(seed: int) -> None:
        with broker.connect() as connection, connection.cursor() as cursor:
            for one in range(number):
                broker.send("work", producer=producer_in(connection), queue="main")
                if (one + seed) % 3 == 0:
                    cursor.execute("SELECT pg_sleep(%s)", ((one * seed % 7) / 1000,))
                connection.commit()

    taker = sleeper(broker)
    threads = [threading.Thread(target=publish, args=(seed,)) for seed in range(1, publishers + 1)]
    for thread in threads:
        thread.start()
    took: list[Any] = []
    silent_since = monotonic()
    while len(took) < number * publishers and monotonic() - silent_since < 30:  # the poll comes after a minute
        with suppress(TimeoutError):
            taker.connection.drain_events(timeout=0.5)
        for message in taker.got:
            message.ack()
            silent_since = monotonic()
        took += taker.got
        taker.got.clear()
    for thread in threads:
        thread.join()
    assert len(took) == number * publishers
