"""Stock kombu and Celery publish to the tables with a `sqla+` URL; a worker of this broker runs what they publish."""

from collections.abc import Iterator
from time import time
from typing import Any

import pytest
from celery import Celery
from durable_harness.postgres import PostgresServer
from durable_harness.standing import TASKS, Standing, standing
from durable_harness.waiting import wait_for
from kombu import Connection, pools
from kombu.transport.sqlalchemy import Channel
from psycopg2.errors import ForeignKeyViolation

POLLS_OFTEN = {"BROKER_TEST_OPTIONS": '{"poll_seconds": 0.2}'}


@pytest.fixture(scope="module")
def broker(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(server, tmp_path_factory.mktemp("stock")) as broker:
        yield broker


@pytest.fixture(scope="module")
def worker(broker: Standing) -> Any:
    return broker.worker("-c", "2", "-I", TASKS, **POLLS_OFTEN)


@pytest.fixture(scope="module")
def url(broker: Standing) -> Iterator[str]:
    yield broker.url.replace("postgresql:", "sqla+postgresql+psycopg2:")
    for engine, _ in Channel._engines.values():
        engine.dispose()
    Channel._engines.clear()


@pytest.fixture(scope="module")
def shop(url: str) -> Iterator[Celery]:
    app = Celery(set_as_current=False, broker=url)
    app.conf.update(task_ignore_result=True, task_default_queue="main")
    yield app
    app.close()
    pools.reset()


def buy(shop: Celery, name: str, *args: Any, **options: Any) -> str:
    return str(shop.send_task(f"{TASKS}.{name}", args=args, **options).id)


@pytest.mark.usefixtures("worker")
class TestAWorkerRuns:
    def test_what_a_stock_app_sends_with_its_arguments_and_headers(self, broker: Standing, shop: Celery) -> None:
        task_id = buy(shop, "report", 1, "ü", kwargs={"a": None}, headers={"mine": [1]})
        wait_for(lambda: broker.told(task_id))
        broker.is_over(task_id)
        [told] = broker.told(task_id)
        assert (told["args"], told["kwargs"], told["mine"]) == ([1, "ü"], {"a": None}, [1])
        assert told["token"]

    @pytest.mark.proof
    def test_a_countdown_not_before_it_is_due(self, broker: Standing, shop: Celery) -> None:
        sent = time()
        task_id = buy(shop, "report", countdown=1)
        wait_for(lambda: broker.told(task_id))
        assert broker.told(task_id)[0]["at"] - sent >= 1

    def test_a_retry_of_it_in_place(self, broker: Standing, shop: Celery) -> None:
        task_id = buy(shop, "retried", 2)
        wait_for(lambda: len(broker.told(task_id)) == 3)
        broker.is_over(task_id)
        assert [one["retries"] for one in broker.told(task_id)] == [0, 1, 2]

    @pytest.mark.proof
    def test_it_again_when_its_child_was_killed(self, broker: Standing, shop: Celery) -> None:
        task_id = buy(shop, "dies_and_comes_back")
        wait_for(lambda: len(broker.told(task_id)) == 2)
        broker.is_over(task_id)
        assert [one["deliveries"] for one in broker.told(task_id)] == [1, 2]

    @pytest.mark.proof
    def test_one_of_two_messages_with_the_same_task_id(self, broker: Standing, shop: Celery) -> None:
        for _ in range(2):
            buy(shop, "report", task_id="same", countdown=0.5)
        wait_for(lambda: broker.told("same"))
        assert len(broker.told("same")) == 1

    def test_none_that_expired(self, broker: Standing, shop: Celery) -> None:
        task_id = buy(shop, "report", countdown=0.4, expires=0.2)
        broker.is_over(task_id)
        assert broker.told(task_id) == []

    def test_a_chain_that_a_stock_app_begins(self, broker: Standing, shop: Celery) -> None:
        first, last = (shop.signature(f"{TASKS}.{name}", args=(name,)) for name in ("report", "report"))
        result = (first | last.set(task_id="last of the chain")).apply_async()
        wait_for(lambda: broker.told("last of the chain"))
        assert broker.told("last of the chain")[0]["args"] == ["report", "report"]
        assert len(broker.told(result.parent.id)) == 1


def test_a_stock_app_s_tenant_is_the_owner_of_the_message(broker: Standing, shop: Celery) -> None:
    task_id = buy(shop, "report", headers={"tenant": "ann"}, queue="quiet")
    with broker.kombu(poll_seconds=0.2).SimpleQueue("quiet") as queue:
        message = queue.get(timeout=60)
        found = broker.query("SELECT user_id, delivery_count FROM kombu_message WHERE task_id = %s", task_id)
        message.ack()
    assert found == [("ann", 1)]


@pytest.mark.proof
def test_delayed_messages_of_a_stock_app_outlive_the_worker_that_saw_them(broker: Standing, shop: Celery) -> None:
    sent = {buy(shop, "report", countdown=3600, queue="late") for _ in range(20)}
    doomed = broker.worker("-c", "1", "-Q", "late", "-I", TASKS, **POLLS_OFTEN)
    delayed = "SELECT count(*) FROM kombu_message WHERE NOT visible AND lease_token IS NULL AND delay_reason = 'eta'"
    wait_for(lambda: broker.value(delayed) == 20)
    doomed.kill_tree()
    broker.worker("-c", "1", "-Q", "late", "-I", TASKS, **POLLS_OFTEN)
    in_time = buy(shop, "report", queue="late")
    wait_for(lambda: broker.told(in_time))
    assert not any(broker.told(task_id) for task_id in sent)
    # their hour has come: no test waits for it, and no machine is too slow for it
    broker.query("UPDATE kombu_message SET visible_at = clock_timestamp() WHERE delay_reason = 'eta' RETURNING id")
    wait_for(lambda: all(broker.told(task_id) for task_id in sent))
    assert [len(broker.told(task_id)) for task_id in sent] == [1] * 20


def test_a_plain_kombu_producer_of_the_stock_transport_is_read(broker: Standing, url: str) -> None:
    with Connection(url) as stock:
        stock.Producer().publish({"a": 1}, routing_key="plain", declare=[])
    with broker.kombu(poll_seconds=0.2).SimpleQueue("plain", no_ack=True) as queue:
        assert queue.get(timeout=60).payload == {"a": 1}


def test_the_stock_transport_makes_no_table_of_its_own(broker: Standing, shop: Celery) -> None:
    tables = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace"
    before = broker.query(tables)
    buy(shop, "report", queue="nobody")
    assert broker.query(tables) == before


def test_a_message_for_a_queue_that_is_not_there_is_refused(broker: Standing) -> None:
    with pytest.raises(ForeignKeyViolation, match="no queue of this queue_id"):
        broker.query("INSERT INTO kombu_message (payload, queue_id) VALUES ('{}', 99)")
    assert broker.value("SELECT count(*) FROM durable_message WHERE queue_id = 99") == 0
