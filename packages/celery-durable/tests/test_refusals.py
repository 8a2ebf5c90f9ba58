"""A statement that fails costs no node its lock, and a session that ends costs it nothing that it holds."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from celery_durable.publish import producer_in
from durable_harness.broker import Broker
from durable_harness.proxy import Proxy
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for
from kombu import Connection
from psycopg2.errors import DiskFull, LockNotAvailable

LOCKS = "SELECT lock FROM kombu_node"
GIVE_BACK = "durable_give_back("
FULL_DISK = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'no space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON durable_ready FOR EACH STATEMENT EXECUTE FUNCTION refuse()"""


@pytest.fixture
def proxy(broker: Broker) -> Iterator[Proxy]:
    proxy = Proxy(broker.server.port)
    proxy.start()
    yield proxy
    proxy.close()


@pytest.fixture
def far_url(broker: Broker, proxy: Proxy) -> str:
    return broker.url.replace(f":{broker.server.port}/", f":{proxy.port}/")


def pid(taker: Taker) -> Any:
    return taker.channel.node.session._database.connection.info.backend_pid


@pytest.mark.proof
def holder_and_idle(broker: Broker) -> tuple[Taker, Taker]:
    """A node that holds a message, and an idle one."""
    broker.send("work", task_id="held")
    holder, other = (Taker(broker.kombu(poll_seconds=0.2, lease_seconds=900), ("main",), 3) for _ in range(2))
    holder.take(1)
    other.look()
    return holder, other


@pytest.mark.parametrize(
    ("breaks", "mends"),
    [
        ("ALTER TABLE durable_message RENAME TO away", "ALTER TABLE away RENAME TO durable_message"),
        ("ALTER FUNCTION durable_take RENAME TO away", "ALTER FUNCTION away RENAME TO durable_take"),
    ],
    ids=["table", "function"],
)
def test_a_refused_statement_leaves_the_node_its_session_and_what_it_holds(
    broker: Broker, breaks: str, mends: str
) -> None:
    broker.send("work", task_id="held")
    one, other = (Taker(broker.kombu(poll_seconds=0.2), ("main",), 3) for _ in range(2))
    (held,) = one.take(1)
    before, locks = pid(one), broker.query(LOCKS)
    broker.send("work", task_id="next")
    broker.query(breaks)
    for _ in range(5):
        one.look(0.1)
        held.channel.node.timer.within(0)
    broker.query(mends)
    assert (pid(one), broker.query(LOCKS)) == (before, locks)
    assert [message.headers["id"] for message in one.take(1)] == ["next"]
    other.look(2)
    assert other.got == []
    held.ack()
    wait_for(lambda: one.look(0.1) or broker.query("SELECT task_id FROM kombu_message") == [("next",)])


@pytest.mark.proof
def test_whoever_was_refused_judges_no_lease_before_its_holder_could_renew_it(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("celery_durable.session.SETTLE_SECONDS", 600.0)
    _holder, other = holder_and_idle(broker)
    broker.query("ALTER FUNCTION durable_poll RENAME TO away")
    broker.query("UPDATE kombu_message SET started_at = now(), visible_at = now() - interval '1 s'")
    wait_for(lambda: other.look(0.1) or "broker_statement_refused" in caplog.text)
    broker.query("ALTER FUNCTION away RENAME TO durable_poll")
    polled = other.channel.node.reader._clock
    wait_for(lambda: other.look(0.1) or other.channel.node.reader._clock != polled)
    assert other.got == []
    assert broker.query("SELECT lost_count FROM kombu_message") == [(0,)]


@pytest.mark.proof
def test_a_lease_is_not_lost_when_the_disk_has_room_just_as_an_idle_node_may_judge_again(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("celery_durable.session.SETTLE_SECONDS", 600.0)
    _holder, other = holder_and_idle(broker)
    session, reader = other.channel.node.session, other.channel.node.reader

    def settled_and_polled() -> None:
        polled, session._judge_from = reader._clock, 0.0
        wait_for(lambda: other.look(0.1) or reader._clock != polled)

    broker.query(FULL_DISK)
    broker.query("UPDATE kombu_message SET started_at = now(), visible_at = now() - interval '1 s'")
    for _ in range(2):  # full for as long as it takes to settle, and still
        caplog.clear()
        session._judge_from = 0.0
        wait_for(lambda: other.look(0.1) or "no space left on device" in caplog.text)
    broker.query("DROP TRIGGER refuse ON durable_ready")
    settled_and_polled()
    assert (other.got, broker.query("SELECT lost_count FROM kombu_message")) == ([], [(0,)])
    settled_and_polled()  # its holder had the time to renew it, and did not
    assert broker.query("SELECT lost_count FROM kombu_message") == [(1,)]


def test_a_row_that_somebody_has_locked_keeps_no_node_from_judging(broker: Broker) -> None:
    one = Taker(broker.kombu(), ("main",), 3)
    one.look()
    one.channel.node.session.rest(LockNotAvailable("canceling statement due to lock timeout"))
    assert one.channel.node.session.may_judge()
    one.channel.node.session.rest(DiskFull("no space left on device"))
    assert not one.channel.node.session.may_judge()


@pytest.mark.proof
def test_whoever_was_refused_doubts_no_node_before_it_could_take_its_lock(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = Taker(broker.kombu(poll_seconds=0.2), ("main",), 3)
    one.look()
    monkeypatch.setattr("celery_durable.session.SETTLE_SECONDS", 600.0)
    broker.query("ALTER FUNCTION durable_poll RENAME TO away")
    wait_for(lambda: one.look(0.1) or "broker_statement_refused" in caplog.text)
    broker.query("INSERT INTO kombu_node (lock, name) VALUES (7, 'away:1')")
    broker.query("UPDATE kombu_judgement SET judged_at = now() - interval '1 h'")
    broker.query("ALTER FUNCTION away RENAME TO durable_poll")
    polled = one.channel.node.reader._clock
    wait_for(lambda: one.look(0.1) or one.channel.node.reader._clock != polled)
    assert broker.query("SELECT suspected_at FROM kombu_node WHERE lock = 7") == [(None,)]


def test_a_cancelled_statement_leaves_the_node_its_session(broker: Broker) -> None:
    one = Taker(broker.kombu(), ("main",), 3)
    one.look()
    before = pid(one)
    with broker.connect() as foreign, foreign.cursor() as cursor:
        cursor.execute("LOCK TABLE durable_message, durable_ready IN ACCESS EXCLUSIVE MODE")
        one.channel.node.session._database.run("SET statement_timeout = 2000")
        one.channel.node.reader.hear("main", None)
        one.look()
        foreign.rollback()
    foreign.close()
    one.channel.node.session._database.run("SET statement_timeout = 0")
    broker.send("work")
    one.take(1)
    assert pid(one) == before


def leases(broker: Broker) -> object:
    """How many there are, asked in a session of its own: from whichever thread."""
    with broker.connect() as other, other.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM kombu_message WHERE lease_token IS NOT NULL")
        return cursor.fetchone()[0]


@pytest.mark.proof
@pytest.mark.parametrize("ends_session", [True, False], ids=["session ends", "session stays"])
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "with another"])
def test_a_claim_whose_answer_is_lost_does_not_wait_for_the_end_of_its_lease(
    broker: Broker, proxy: Proxy, far_url: str, ends_session: bool, alone: bool
) -> None:
    long = {"lease_seconds": 600}
    connection = broker.stack.enter_context(Connection(f"durable+{far_url}", transport_options=long))
    unlucky = Taker(connection, ("main",), 100)
    broker.send("work", task_id="held")
    (held,) = unlucky.take(1)
    broker.send("work", task_id="acknowledged")
    (acknowledged,) = unlucky.take(1)
    others = [] if alone else [Taker(broker.kombu(**long), ("main",), 100)]
    leased: list[object] = []
    with broker.connect() as publisher:
        for number in range(5):
            broker.send("work", task_id=f"n{number}", queue="main", producer=producer_in(publisher))
        proxy.swallow("claim (", ends_session=ends_session, meanwhile=lambda: leased.append(leases(broker)))
    wait_for(lambda: unlucky.look() or proxy.swallowed.is_set())
    # the answer is short: a longer one is sent before the commit, which then fails
    assert leased == [7]
    unlucky.channel.node._ledger.add("ack", unlucky.channel.node.held.pop(acknowledged.delivery_tag))

    wait_for(lambda: unlucky.look() or unlucky.channel.node.session.connected)

    def got() -> list[str]:
        for one in (unlucky, *others):
            one.look(0.05)
        return [message.headers["id"] for one in (unlucky, *others) for message in one.got]

    wait_for(lambda: len(got()) >= 5)
    assert sorted(got()) == sorted(f"n{number}" for number in range(5))
    left = "SELECT lease_token::text, lost_count FROM kombu_message WHERE task_id = 'held'"
    assert broker.query(left) == [(held.headers["lease_token"], 0)]
    assert broker.query("SELECT 1 FROM kombu_message WHERE task_id = 'acknowledged'") == []


@pytest.mark.proof
def test_a_hand_back_that_fails_in_a_warm_stop_is_noticed_and_what_runs_keeps_its_lock(
    broker: Broker, proxy: Proxy, far_url: str
) -> None:
    worker = broker.worker("-c", "1", BROKER_TEST_URL=far_url)
    for name in "abcd":
        broker.send("work", 6, task_id=name)
    wait_for(lambda: broker.started() == 1 and not broker.value("SELECT bool_or(visible) FROM kombu_message"))
    proxy.swallow(GIVE_BACK, reaches_server=False)
    worker.process.send_signal(signal.SIGTERM)
    wait_for(proxy.swallowed.is_set)
    # others look for nodes that died; what runs is not taken away
    other = Taker(broker.kombu(poll_seconds=0.2), ("main",), 10)
    assert sorted(message.headers["id"] for message in other.take(3)) == ["b", "c", "d"]
    other.look(1.5)
    assert other.got == []
    assert worker.process.wait(60) == 0
    assert "broker_connection_lost" in worker.text
    assert broker.query("SELECT task_id, what FROM runs ORDER BY id") == [("a", "start"), ("a", "end")]
    assert broker.query("SELECT task_id FROM kombu_message ORDER BY id") == [("b",), ("c",), ("d",)]
