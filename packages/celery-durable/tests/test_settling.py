"""How deliveries end is written down soon, once, and whoever says so."""

import threading
from typing import Any

import pytest
from celery_durable.leases import Lease
from celery_durable.ledger import ACK, REJECTED, REQUEUE, Ledger
from celery_durable.options import Options
from celery_durable.statements import statements
from celery_durable.template import send_many
from durable_harness.broker import PREFIX, Broker
from durable_harness.plain import TASKS, ran, send
from durable_harness.standing import TOLD
from durable_harness.taker import Taker
from durable_harness.waiting import wait_for

SQL = statements(Options())
BACKLOG = 20_000  # seconds of work

RETRY = "SELECT durable_retry('one', token, 'main', '{{}}', {}, false, false, 0, 'main') FROM durable_lease"
PARK = "SELECT broker_park('main', 'ann', 30)"
CLAIM = "SELECT durable_claim('main', 1, 7, 900, 0, 0)"
#: What is done with a message -> where it stands then, which a row too many says already.
MOVES = {
    "give back": (
        CLAIM,
        "SELECT durable_give_back(array_agg(id), array_agg(token), 'died') FROM durable_lease",
        "ready",
    ),
    "rescue": (CLAIM, "SELECT durable_rescue(7, '-infinity', 9)", "ready"),
    "promote": (
        CLAIM,
        "SELECT durable_promote(queue_id, '-infinity', 'infinity', true, 9) FROM durable_lease",
        "ready",
    ),
    "retry": (CLAIM, RETRY.format("NULL"), "ready"),
    "retry later": (CLAIM, RETRY.format(60), "waiting"),
    "park": ("SELECT", PARK, "waiting"),
    "wake": (PARK, "SELECT broker_wake('main', 'ann', 1)", "ready"),
    "cancel": (PARK, "SELECT broker_request_cancel('one')", "ready"),
}


@pytest.mark.parametrize(("before", "act", "state"), MOVES.values(), ids=MOVES)
def test_a_row_too_many_keeps_no_message_where_it_was(broker: Broker, before: str, act: str, state: str) -> None:
    """Nor does it end the transaction, in which a node may give back others."""
    broker.query("INSERT INTO durable_queue (name) VALUES ('main')")
    broker.query("SELECT durable_publish('main', '{}', 'one', 'ann', NULL, NULL, 100, 'main')")
    broker.query(before)
    rest = {
        "ready": "rank) SELECT id, queue_id, 'ann', 7",
        "waiting": "reason, due_at) SELECT id, queue_id, 'ann', 'eta', now()",
    }
    broker.query(f"INSERT INTO durable_{state} (id, queue_id, tenant, {rest[state]} FROM durable_message")
    broker.query(act)
    found = {
        name: broker.value(f"SELECT count(*) FROM durable_{name}") for name in ("ready", "lease", "waiting", "message")
    }
    assert found == {"ready": 0, "lease": 0, "waiting": 0, "message": 1} | {state: 1}


@pytest.mark.parametrize("most", [1, 8])
def test_a_ready_row_of_a_leased_message_keeps_no_claim_from_what_is_behind_it(broker: Broker, most: int) -> None:
    broker.query("INSERT INTO durable_queue (name) VALUES ('main')")
    publish = "SELECT durable_publish('main', '{}', %s, NULL, NULL, NULL, 100, 'main')"
    broker.query(publish, "leased")
    [(leased, token)] = broker.query("SELECT message_id, token FROM durable_claim('main', 1, NULL, 900, 0, 0)")
    broker.query(publish, "behind")
    broker.query("INSERT INTO durable_ready (id, queue_id, tenant, rank) SELECT id, queue_id, '', 7 FROM durable_lease")
    claim = (
        f"SELECT d.task_id FROM durable_claim('main', {most}, 7, 900, 0, 0) JOIN durable_message d ON d.id = message_id"
    )
    assert broker.query(claim) == [("behind",)]
    assert broker.query("SELECT id, token::text FROM durable_lease ORDER BY id")[0] == (leased, token)
    assert broker.value("SELECT count(*) FROM durable_ready") == 0


class TestABusyNode:
    """One that always finds more to claim, and has room for it."""

    @pytest.fixture(autouse=True)
    def told(self, broker: Broker) -> None:
        broker.query(TOLD)

    def work(self, broker: Broker) -> None:
        with broker.connect() as connection:
            send_many(connection, broker.app, f"{PREFIX}.nothing", [((), {})] * BACKLOG, queue="main")
        connection.close()
        broker.worker("-I", TASKS, "-c", "1", "-l", "warning", ready=False, BROKER_TEST_MULTIPLIER="0")

    def is_busy(self, broker: Broker) -> bool:
        return bool(broker.value("SELECT count(*) FROM kombu_message WHERE visible"))

    @pytest.mark.proof
    def test_buries_what_is_rejected_or_cannot_be_read_with_its_next_claim(self, broker: Broker) -> None:
        send(broker, "rejects", 9, kwargs={"requeue": False}, task_id="rejected")
        broker.query("INSERT INTO kombu_message (queue_id, payload, rank) SELECT id, 'poison', 1 FROM kombu_queue")
        self.work(broker)
        wait_for(lambda: broker.value("SELECT count(*) FROM kombu_dead_letter") == 2)
        assert self.is_busy(broker)
        assert broker.query("SELECT delivery_count FROM kombu_dead_letter") == [(1,), (1,)]
        assert ran(broker, "rejected") == [(1, 0)]

    @pytest.mark.proof
    def test_puts_what_a_task_gives_back_on_its_queue_with_its_next_claim(self, broker: Broker) -> None:
        send(broker, "rejects", 1, kwargs={"requeue": True}, task_id="patient")
        self.work(broker)
        back = (
            "SELECT delivery_count FROM kombu_message WHERE task_id = 'patient' AND delivery_count + visible::int > 1"
        )
        wait_for(lambda: broker.query(back) or len(ran(broker, "patient")) == 2)
        assert self.is_busy(broker)


def lease(number: int) -> Lease:
    return Lease(number, str(number), None, 0.0)


@pytest.mark.parametrize("how", [ACK, REQUEUE, REJECTED])
def test_two_threads_that_write_at_once_write_each_entry_once(how: str) -> None:
    first, both, written = threading.Event(), threading.Barrier(2), list[Any]()

    def run(_: str, given: Any) -> list[Any]:
        first.set()
        both.wait(60)  # each is in the middle of its statement
        written.extend(given["done"] + given["others"])
        return [(None,)]

    def add_and_write(number: int) -> None:
        ledger.add(how, lease(number))
        ledger.write()

    ledger = Ledger(run, SQL)
    writers = [threading.Thread(target=add_and_write, args=(number,)) for number in (1, 2)]
    for one in writers:
        one.start()
        assert first.wait(60)  # it has taken its entry alone
    for one in writers:
        one.join(60)
    assert sorted(written) == [1, 2]
    assert not ledger


def test_very_many_entries_are_written_by_several_statements() -> None:
    written = list[int]()

    def run(_: str, given: Any) -> list[Any]:
        written.append(len(given["done"]))
        return [(None,)]

    ledger = Ledger(run, SQL)
    for number in range(2500):
        ledger.add(ACK, lease(number))
    assert len(ledger.round_trip("", {}).parameters["done"]) == 1000
    ledger.write()
    assert written == [1000, 500]
    assert not ledger


@pytest.mark.proof
@pytest.mark.parametrize("how", ["ack", "reject", "requeue"])
def test_deliveries_settled_by_several_threads_are_settled_once_each(broker: Broker, how: str) -> None:
    number, threads = 240, 8
    for _ in range(number):
        broker.send("work")
    taker = Taker(broker.kombu(), ("main",), 300)
    messages = taker.take(number)
    start = threading.Barrier(threads)
    raised: list[BaseException] = []

    def settle(own: list[Any]) -> None:
        start.wait(20)
        try:
            for message in own:
                getattr(message, how)()
        except BaseException as error:  # noqa: BLE001  the test tells
            raised.append(error)

    workers = [threading.Thread(target=settle, args=(messages[one::threads],)) for one in range(threads)]
    for one in workers:
        one.start()
    for one in workers:
        one.join(60)
    assert raised == []
    assert broker.value("SELECT count(*) FROM kombu_message WHERE lease_token IS NOT NULL") == 0
    assert (broker.left(), broker.value("SELECT count(*) FROM kombu_dead_letter")) == {
        "ack": (0, 0), "reject": (0, number), "requeue": (number, 0),
    }[how]  # fmt: skip
