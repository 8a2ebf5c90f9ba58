"""A worker whose server is away stops when it is asked to."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from durable_harness import broker as harness
from durable_harness.broker import Broker
from durable_harness.waiting import wait_for

#: A heartbeat is published with retries that have no end, in one turn of the loop that looks for signals.
BEATING = ("--heartbeat-interval", "1")
#: So many attempts to connect are those of a heartbeat, and not of Celery itself, which looks for signals between them.
ATTEMPTS = 5
#: Seconds for a server to read its log, and a worker to end, on a machine that does much else.
PATIENCE = 240
POOLS = ["prefork", *(pytest.param(pool, marks=pytest.mark.proof) for pool in ("threads", "solo"))]


@pytest.fixture(autouse=True)
def _beating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "QUIET", BEATING)


@contextmanager
def away(broker: Broker) -> Iterator[socket.socket]:
    """The server is not there; -> what accepts, and ends, each attempt to connect meanwhile."""
    broker.server.stop("immediate")
    try:
        with socket.create_server(("127.0.0.1", broker.server.port)) as port:
            port.settimeout(PATIENCE)
            yield port
    finally:
        broker.server.start()


def hear(port: socket.socket, attempts: int) -> None:
    for _ in range(attempts):
        port.accept()[0].close()


@pytest.mark.parametrize("pool", POOLS)
def test_a_worker_without_a_server_stops_at_a_signal(broker: Broker, pool: str) -> None:
    worker = broker.worker("-P", pool, "-c", "2")
    with away(broker) as port:
        hear(port, ATTEMPTS)
        port.close()
        assert worker.stop() == 0
    assert "Unrecoverable error" not in worker.text


@pytest.mark.proof
@pytest.mark.parametrize("pool", POOLS)
def test_what_runs_without_a_server_may_end_first(broker: Broker, pool: str) -> None:
    worker = broker.worker("-P", pool, "-c", "1")
    broker.send("nap", 6)
    wait_for(lambda: broker.started() == 1, "the task to run")
    with away(broker) as port:
        hear(port, ATTEMPTS)
        worker.process.send_signal(signal.SIGTERM)
    assert worker.process.wait(PATIENCE) == 0
    assert broker.ended() == 1
