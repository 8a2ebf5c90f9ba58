"""What nobody should put into the table: each is a dead letter with its payload and reason, and the worker lives."""

import json
import os
import random
import string
from collections.abc import Iterator
from typing import Any

import pytest
from durable_harness.broker import PREFIX, Worker
from durable_harness.postgres import PostgresServer
from durable_harness.standing import TASKS, Standing, standing
from durable_harness.waiting import wait_for

pytestmark = pytest.mark.proof

MEGABYTES = int(os.environ.get("BROKER_POISON_MB", "5"))
PEOPLE = "".join(random.Random(1).choices(string.ascii_letters, k=20_000))
CONTENT = {"content-type": "application/json", "content-encoding": "utf-8"}
RUN = json.dumps([[], {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}])


def letter(body: Any = RUN, **headers: Any) -> dict[str, Any]:
    """As Celery's protocol 2 writes it, but for what the test says."""
    given = {"id": "poison", "task": f"{TASKS}.report", "lang": "py", "retries": 0, **headers}
    return {"body": body, **CONTENT, "headers": given, "properties": {"body_encoding": "utf-8", "delivery_info": {}}}


def without(message: dict[str, Any], *path: str) -> dict[str, Any]:
    inner = message
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return message


def protocol_1(**changes: Any) -> dict[str, Any]:
    body = {"task": f"{TASKS}.report", "id": "poison", "args": [], "kwargs": {}, "retries": 0, **changes}
    return letter(json.dumps(body)) | {"headers": {}}


POISON: dict[str, Any] = {
    "no JSON": "poison",
    "nothing": "",
    "a number": "5",
    "null": "null",
    "a list": [1, 2],
    "an invalid escape": '{"body": "\\x", "headers": {}, "properties": {}}',
    "nested too deep": "[" * 100_000,
    "cut off": json.dumps(letter())[:-9],
    "no headers": without(letter(), "headers"),
    "no properties": without(letter(), "properties"),
    "headers a list": letter() | {"headers": [1]},
    "headers a string": letter() | {"headers": "task"},
    "headers null": letter() | {"headers": None},
    "properties a number": letter() | {"properties": 5},
    "delivery_info a string": letter() | {"properties": {"delivery_info": "x"}},
    "no id": without(letter(), "headers", "id"),
    "id a number": letter(id=7),
    "id an object": letter(id={"a": 1}),
    "id too long": letter(id=PEOPLE),
    "task a list": letter(task=["a"]),
    "task a number": letter(task=5),
    "task unknown": letter(task="no.such.task"),
    "eta nonsense": letter(eta="nonsense"),
    "eta a number": letter(eta=5),
    "eta without an end": letter(eta="infinity"),
    "eta out of range": letter(eta="290000-01-01T00:00:00"),
    "expires nonsense": letter(expires="nonsense"),
    "expires an object": letter(expires={"a": 1}),
    "timelimit a string": letter(timelimit="ab"),
    "timelimit of words": letter(timelimit=["a", "b"]),
    "tenant too long": letter(tenant=PEOPLE) | {"headers": {"task": 5, "tenant": PEOPLE}},
    "body a number": letter(5),
    "body an object": letter({"a": 1}),
    "body null": letter(None),
    "body no JSON": letter("poison"),
    "body of another shape": letter("[1]"),
    "body with a NUL": letter("\0"),
    "body of a number": letter("5"),
    "body not base64": letter("?") | {"properties": {"body_encoding": "base64", "delivery_info": {}}},
    "content type unknown": letter() | {"content-type": "application/x-unknown"},
    "content type pickle": letter() | {"content-type": "application/x-python-serialize"},
    "content type a list": letter() | {"content-type": [1]},
    "compressed by nobody knows what": letter(compression="none-such"),
    "half a surrogate": letter("\ud800"),
    "protocol 1 without an id": letter(json.dumps({"task": f"{TASKS}.report"})) | {"headers": {}},
    "protocol 1 with kwargs a list": protocol_1(kwargs=[1]),
    "protocol 1 with task a list": protocol_1(task=[1]),
    "protocol 3": letter({"v": 3}) | {"headers": {"protocol": 3, "name": "x"}},
}


@pytest.fixture(scope="module")
def broker(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(server, tmp_path_factory.mktemp("poison")) as broker:
        yield broker


@pytest.fixture(scope="module")
def worker(broker: Standing) -> Worker:
    return broker.worker("-c", "1", "-I", TASKS, BROKER_TEST_OPTIONS='{"poll_seconds": 0.2}')


def insert(broker: Standing, payloads: list[str]) -> None:
    """As a stock producer does."""
    broker.query(
        "INSERT INTO kombu_message (queue_id, payload) SELECT id, unnest(%s) FROM kombu_queue WHERE name = 'main'",
        payloads,
    )


def text(poison: Any) -> str:
    return poison if isinstance(poison, str) else json.dumps(poison)


def as_stored(poison: dict[str, Any]) -> dict[str, str]:
    """By name, each with an id of its own: the same one again would be no second message."""
    return {name: text(what).replace('"poison"', json.dumps(name)) for name, what in poison.items()}


@pytest.mark.parametrize("stock", [True, False], ids=["a stock producer's", "with a rank"])
def test_poison_is_buried_with_its_payload_and_what_is_behind_it_runs(
    broker: Standing, worker: Worker, stock: bool
) -> None:
    broker.query("TRUNCATE kombu_dead_letter")
    payloads = as_stored(POISON)
    insert(broker, list(payloads.values()))
    if not stock:
        broker.query("UPDATE kombu_message SET rank = 1")
    behind = broker.send("report", 1)
    wait_for(lambda: broker.left() == 0, "an empty queue", seconds=200)
    assert len(broker.told(behind)) == 1
    dead = dict(broker.query("SELECT payload, reason FROM kombu_dead_letter"))
    assert [name for name, payload in payloads.items() if payload not in dead] == []
    assert set(dead.values()) == {"undecodable", "rejected"}
    assert (worker.process.poll(), worker.text.count("ready.")) == (None, 1)


@pytest.mark.timeout(300)
def test_of_huge_payloads_the_bad_ones_are_buried_and_the_good_one_runs(broker: Standing, worker: Worker) -> None:
    broker.query("TRUNCATE kombu_dead_letter")
    huge = "x" * (MEGABYTES * 2**20)
    bad = [huge, text(letter(json.dumps([[huge], {}, {}]), id="huge and unknown", task="no.such.task"))]
    insert(broker, [*bad, text(letter(json.dumps([[], {"huge": huge}, {}]), id="huge", task=f"{PREFIX}.nothing"))])
    broker.send("report", len(huge))
    behind = broker.send("report")
    wait_for(lambda: broker.left() == 0, "an empty queue", seconds=200)
    assert len(broker.told(behind)) == 1
    sizes = broker.query("SELECT reason, length(payload) FROM kombu_dead_letter ORDER BY reason DESC, 2")
    # `nothing` takes no argument, which is its error, not the message's
    assert sizes == [("undecodable", len(bad[0])), ("rejected", len(bad[1]))]
    assert (worker.process.poll(), worker.text.count("ready.")) == (None, 1)
