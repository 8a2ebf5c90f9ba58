"""`celery durable receive` is killed again and again while publishers and workers of the old broker go on: nothing is lost.

RECEIVE_MESSAGES=100000 RECEIVE_KILLS=40 pytest tests/test_receiving_kills.py -s      # make prove-receive
"""

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import pytest
from celery import Celery
from celery_durable.receiving.redis_source import SUFFIX
from durable_harness.broker import Broker
from durable_harness.other_brokers import RABBIT, REDIS, RabbitServer, RedisServer
from durable_harness.waiting import wait_for
from kombu import Connection, Producer, Queue, pools

pytestmark = pytest.mark.proof

MESSAGES = int(os.environ.get("RECEIVE_MESSAGES", "1500"))
KILLS = int(os.environ.get("RECEIVE_KILLS", "2"))
#: Of the messages: received while they are published, and consumed by the old broker's own workers meanwhile.
QUEUES = ("main", "slow")
#: Published together.
TOGETHER = 100
MADE: list[dict[str, Any]] = []
APP = """
import os
import celery_durable
from celery import Celery

app = Celery("shop", broker=os.environ["SHOP_BROKER"])
"""


class Traffic(threading.Thread):
    """Publishes the messages: half of them before the first run, the others while it goes on."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.url, self.error = url, None
        self.half = threading.Event()

    def run(self) -> None:
        try:
            with Connection(self.url) as connection:
                producer = Producer(connection.channel(), auto_declare=False)
                for name in QUEUES:
                    Queue(name)(producer.channel).declare()
                publish = self._pushes(producer) if self.url.startswith("redis") else partial(publish_each, producer)
                for start in range(0, MESSAGES, TOGETHER):
                    publish(range(start, min(start + TOGETHER, MESSAGES)))
                    if start + TOGETHER >= MESSAGES // 2:
                        self.half.set()
        except BaseException as error:  # noqa: BLE001  shown by the test
            self.error = error
            self.half.set()

    def _pushes(self, producer: Producer) -> Callable[[range], None]:
        """What publishes many to Redis in one round trip, each as kombu has written the first of its kind."""
        client = producer.channel.client
        kinds = {}
        for number in (0, 1, 2, 5):  # both queues, with and without delay
            producer.publish(routing_key=QUEUES[number % 2], **message(number))
            kinds[number % 2, number % 10 == 0] = client.rpop(QUEUES[number % 2]).decode(), f"{number:06}"

        def push(numbers: range) -> None:
            with client.pipeline(transaction=False) as pipe:
                for number in numbers:
                    text, mark = kinds[number % 2, number % 10 == 0]
                    made = json.loads(text.replace(mark, f"{number:06}"))
                    made["properties"]["delivery_tag"] = str(uuid4())
                    pipe.lpush(QUEUES[number % 2], json.dumps(made))
                pipe.execute()

        return push


def publish_each(producer: Producer, numbers: range) -> None:
    for number in numbers:
        producer.publish(routing_key=QUEUES[number % 2], **message(number))


def message(number: int) -> dict[str, Any]:
    """What Celery publishes for a task, built by it once; every tenth is delayed."""
    if not MADE:
        app = Celery(set_as_current=False)
        for countdown in (None, 36_000):
            headers, properties, body, _ = app.amqp.as_task_v2("0", "shop.work", (0,), countdown=countdown)
            MADE.append({"body": body, "headers": headers, "serializer": "json", **properties})
    made = MADE[number % 10 == 0]
    headers = made["headers"] | {"id": f"{number:06}", "root_id": f"{number:06}", "tenant": f"tenant {number % 7}"}
    return {**made, "headers": headers, "correlation_id": f"{number:06}"}


def works(url: str, stopped: threading.Event, ran: list[str]) -> None:
    """A worker of the old broker, which takes and acknowledges a message now and then."""
    with Connection(url) as connection:
        queue = Queue("slow").bind(connection.channel())
        while not stopped.wait(0.05):
            if (message := queue.get()) is not None:
                ran.append(message.headers["id"])
                message.ack()


class Runs:
    """Runs of the command, one after the other."""

    def __init__(self, folder: Path, broker: Broker, url: str) -> None:
        (folder / "shop.py").write_text(APP)
        self.folder, self.broker, self.url = folder, broker, url
        self.kills = 0
        self.ran: list[str] = []  # by the old broker's worker
        self._look = broker.stack.enter_context(closing(broker.connect()))

    def start(self, wait: float) -> subprocess.Popen[str]:
        queues = [f"--queue={name}" for name in QUEUES]
        return subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "shop", "durable", "receive", self.url, *queues, "--batch=200", f"--wait={wait}"],
            cwd=self.folder, env={**os.environ, "SHOP_BROKER": self.broker.url.replace("postgresql:", "durable:")},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def is_killed(self, dice: random.Random, traffic: Traffic) -> None:
        """One run, at any moment after it has received something; the last ones may find nothing."""
        before = self.stored()
        process = self.start(3600)
        try:
            wait_for(
                lambda: (
                    self.stored() > before
                    or process.poll() is not None
                    or (not traffic.is_alive() and self.broker.left() == MESSAGES - len(self.ran))
                ),
                "a message that is received",
                seconds=600,
            )
            sleep(dice.uniform(0, 0.3))  # at any moment
            assert process.poll() is None, process.communicate()
        finally:
            process.kill()
            process.communicate()
        self.kills += 1

    def stored(self) -> int:
        with self._look as connection, connection.cursor() as cursor:
            cursor.execute("SELECT last_value FROM message_id_sequence")
            return int(cursor.fetchone()[0])


@pytest.fixture(params=["redis", "rabbitmq"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a broker without messages."""
    if request.param == "rabbitmq" and "RECEIVE_MESSAGES" not in os.environ:
        pytest.skip("a node of RabbitMQ takes half a minute to start: make prove-receive")
    if (REDIS if request.param == "redis" else RABBIT) is None:
        pytest.skip(f"{request.param}-server is not installed (apt-get install {request.param}-server)")
    with closing(RedisServer() if request.param == "redis" else RabbitServer()) as server:
        yield server.url()
        pools.reset()


def test_nothing_is_lost_when_the_receiver_is_killed_under_traffic(broker: Broker, url: str, tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    dice, began = random.Random(seed), monotonic()
    traffic, stopped, runs = Traffic(url), threading.Event(), Runs(tmp_path, broker, url)
    worker = threading.Thread(target=works, args=(url, stopped, runs.ran), daemon=True)
    traffic.start()
    assert traffic.half.wait(600)
    worker.start()
    while runs.kills < KILLS:
        runs.is_killed(dice, traffic)
    traffic.join(600)
    assert traffic.error is None
    stopped.set()
    worker.join(60)
    last = runs.start(3)
    out, err = last.communicate(timeout=600)
    assert last.returncode == 0, out + err
    received = [task_id for (task_id,) in broker.query("SELECT task_id FROM broker_message")]
    ran = runs.ran
    print(f"\nseed {seed}: {MESSAGES} messages of {url.partition(':')[0]}, {runs.kills} kills, {len(received)} received,"
          f" {len(ran)} run by the old worker, {len({*received} & {*ran})} of both, {monotonic() - began:.0f} s")  # fmt: skip
    assert len(received) == len({*received})
    lost = {f"{number:06}" for number in range(MESSAGES)} - {*received} - {*ran}
    assert lost == set()
    assert broker.value("SELECT count(*) FROM broker_message WHERE delay_reason = 'eta'") >= MESSAGES // 10 - len(ran)
    if url.startswith("redis"):  # RabbitMQ gives to its worker what a run had stored and not acknowledged
        assert {*received} & {*ran} == set()
        with Connection(url) as connection:
            client = connection.channel().client
            assert [client.llen(f"{name}{suffix}") for name in QUEUES for suffix in ("", SUFFIX)] == [0] * 4
