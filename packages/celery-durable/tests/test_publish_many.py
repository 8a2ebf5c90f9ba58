"""Many messages in one commit, each as if it had been sent alone."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from celery import group
from celery_durable import DuplicateKey
from celery_durable.database import runner
from celery_durable.envelope import Letter
from celery_durable.publish import producer_in, put, put_many
from celery_durable.statements import cached_statements
from celery_durable.template import Template, send_many
from durable_harness.broker import PREFIX, Broker
from durable_harness.versions import batch, needs_batches
from durable_harness.waiting import wait_for

ROWS = """SELECT task_id, user_id, unique_key, delay_reason, rank_step, payload::json FROM kombu_message ORDER BY id"""


@pytest.mark.proof
@needs_batches
def test_a_batch_is_stored_at_its_end_and_gone_after_a_rollback(broker: Broker) -> None:
    connection = broker.connect()
    producer = producer_in(connection)
    with producer.batch():
        for number in range(1500):
            broker.app.send_task(f"{PREFIX}.work", args=(number,), producer=producer)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM kombu_message")
            assert cursor.fetchone() == (1000,)
    assert broker.left() == 0
    connection.rollback()
    assert broker.left() == 0
    with producer.batch():
        broker.app.send_task(f"{PREFIX}.work", producer=producer)
        broker.app.send_task(f"{PREFIX}.work", producer=producer, countdown=60)
    connection.commit()
    connection.close()
    assert broker.query("SELECT visible FROM kombu_message ORDER BY id") == [(True,), (False,)]


@needs_batches
def test_an_error_in_a_batch_stores_nothing(broker: Broker) -> None:
    connection = broker.connect()
    producer = producer_in(connection)
    with pytest.raises(ZeroDivisionError), producer.batch():
        broker.app.send_task(f"{PREFIX}.work", args=(broker.app.send_task(f"{PREFIX}.work", producer=producer), 1 / 0))
    connection.commit()
    connection.close()
    assert broker.left() == 0


@needs_batches
def test_a_batch_of_the_transports_own_producer_is_one_transaction(broker: Broker) -> None:
    with broker.app.producer_or_acquire() as producer, producer.batch(max_size=50):
        for _ in range(120):
            broker.app.send_task(f"{PREFIX}.work", producer=producer)
        assert broker.left() == 100
    assert broker.query("SELECT count(*), count(DISTINCT xmin::text) FROM durable_message") == [(120, 3)]


@needs_batches
def test_the_same_task_twice_in_a_batch_is_one_and_a_held_key_is_told(broker: Broker) -> None:
    first = broker.send("work", headers={"unique_key": "k"})
    connection = broker.connect()
    producer = producer_in(connection)
    with producer.batch():
        for _ in range(3):
            broker.app.send_task(f"{PREFIX}.work", task_id="one", producer=producer, queue="a new one")
    batch = producer.batch()
    batch.__enter__()
    for headers in ({}, {"unique_key": "k"}):
        broker.app.send_task(f"{PREFIX}.work", producer=producer, headers=headers)
    with pytest.raises(DuplicateKey) as caught:
        batch.flush()
    connection.rollback()
    connection.close()
    assert caught.value.task_id == first


def without_ids(row: tuple[Any, ...]) -> tuple[Any, ...]:
    text = json.dumps(row[-1]).replace(row[0], "ID")
    message = json.loads(text)
    for name in ("origin", "eta", "argsrepr", "kwargsrepr"):
        message["headers"].pop(name)
    message["properties"].pop("expiration", None)  # milliseconds from now
    return (*row[1:-1], message, json.loads(message["body"]))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"headers": {"tenant": "ann", "weight": 2}, "expires": "2100-01-01T00:00:00+00:00"},
        {"countdown": 60, "priority": 3, "link": [], "time_limit": 5, "shadow": "other"},
    ],
    ids=["plain", "headers", "options"],
)
def test_send_many_writes_what_celery_writes(broker: Broker, options: dict[str, Any]) -> None:
    arguments = (('"; \\ é \0'.replace("\0", ""), {"a": [1, None]}), {"key": 'x"y'})
    with broker.connect() as connection:
        [task_id] = send_many(connection, broker.app, f"{PREFIX}.work", [arguments], queue="main", **options)
    broker.app.send_task(f"{PREFIX}.work", *arguments, queue="main", **options)
    many, single = broker.query(ROWS)
    assert many[0] == task_id
    assert without_ids(many) == without_ids(single)


@pytest.mark.parametrize(
    "headers",
    [
        {"tenant": "ann", "unique_key": 'k"\\', "weight": 0.5, "most_ready": 3},
        {"tenant": "ann", "extra": {"a": [1.5, "é"]}},
    ],
)
def test_a_template_writes_what_celery_writes(broker: Broker, headers: dict[str, Any]) -> None:
    arguments = ((1,), {"key": 'x"y'})
    template = Template(broker.app, f"{PREFIX}.work", {"queue": "main", "priority": 3}, sorted(headers))
    with broker.connect() as connection:
        template.send(connection, "first", *arguments, headers)
    alone = {name: value for name, value in headers.items() if name != "unique_key"}
    broker.app.send_task(f"{PREFIX}.work", *arguments, queue="main", priority=3, headers=alone)
    filled, single = (list(row) for row in broker.query(ROWS))
    if "unique_key" in headers:  # which only one message may hold
        assert filled.pop(2) == filled[-1]["headers"].pop("unique_key") == headers["unique_key"]
        single.pop(2)
    assert without_ids(tuple(filled)) == without_ids(tuple(single))


def test_a_template_needs_every_header_it_was_made_for(broker: Broker) -> None:
    template = Template(broker.app, f"{PREFIX}.work", {"queue": "main"}, ("tenant",))
    with pytest.raises(KeyError, match="tenant"):
        template.fill("first", (), {}, {"weight": 1})
    with pytest.raises(ValueError, match="weight"):
        Template(broker.app, f"{PREFIX}.work", {}, ("weight",)).fill("first", (), {}, {"weight": 0})


def test_send_many_needs_a_serializer_that_makes_text(broker: Broker) -> None:
    with broker.connect() as connection, pytest.raises(ValueError, match="makes text, such as json, not 'pickle'"):
        send_many(connection, broker.app, f"{PREFIX}.work", [((), {})], serializer="pickle")


@pytest.mark.proof
def test_a_worker_runs_what_was_sent_in_bulk(broker: Broker) -> None:
    broker.worker("-c", "2")
    with broker.connect() as connection:
        ids = send_many(connection, broker.app, f"{PREFIX}.work", [((0,), {})] * 300, queue="main")
        assert len(set(ids)) == 300
    connection = broker.connect()
    producer = producer_in(connection)
    with batch(producer):
        group(broker.app.signature(f"{PREFIX}.work", args=(0,)) for _ in range(20)).apply_async(producer=producer)
    connection.commit()
    connection.close()
    wait_for(lambda: broker.left() == 0)
    assert broker.query("SELECT count(DISTINCT task_id) FROM runs WHERE what = 'end'") == [(320,)]


def test_messages_that_may_park_their_group_are_stored_in_one_round_trip_as_if_each_were_sent_alone(
    broker: Broker,
) -> None:
    template = Template(broker.app, f"{PREFIX}.work", {"queue": "main"}, ("most_ready", "tenant", "unique_key"))
    sent: list[str] = []

    def letters(tenant: str) -> list[Letter]:
        headers = [{"tenant": tenant, "most_ready": 2, "unique_key": f"{tenant}{n}"} for n in range(4)]
        return [template.fill(f"{tenant}{n}", (n,), {}, of) for n, of in enumerate(headers)]

    with broker.connect() as connection:
        right = runner(connection)

        def run(statement: str, parameters: Mapping[str, Any]) -> list[Any]:
            sent.append(statement)
            return right(statement, parameters)

        for letter in letters("ann"):
            put(run, cached_statements(None), letter)
        sent.clear()
        put_many(run, cached_statements(None), letters("ben"))
        assert len(sent) == 1
        with pytest.raises(DuplicateKey) as met:
            put_many(run, cached_statements(None), [letters("ben")[0]._replace(task_id="other"), letters("cid")[0]])
        assert met.value.task_id == "ben0"
    seen = "SELECT visible, delay_reason, rank IS NULL, payload FROM kombu_message WHERE user_id = %s ORDER BY id"
    alone, together = ([row[:3] for row in broker.query(seen, tenant)] for tenant in ("ann", "ben"))
    assert alone == together == [(True, None, False)] * 2 + [(False, "parked", True)] * 2
