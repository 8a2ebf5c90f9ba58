"""How the web stops: a balancer sees that it is not ready while it still answers; then it closes."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import time
import urllib.error
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from durable_harness.waiting import wait_for

from app.errors import BadSetting
from app.server import config
from app.services.accounts.tokens import add_token
from app.settings import load
from tests.e2e.conftest import System
from tests.e2e.webs import Web
from tests.nodes import Nodes, lives


def status(web: Web, path: str) -> int:
    try:
        web.ask(path)
    except urllib.error.HTTPError as refusal:
        return refusal.code
    return 200


def test_a_web_that_is_told_to_stop_is_not_ready_first_and_answers_new_connections_meanwhile(
    nodes: Nodes, tmp_path: Path
) -> None:
    web = Web(nodes, tmp_path, "", WEB_DRAIN="30s")
    assert status(web, "/readyz") == 200
    web.process.kill("SIGTERM")
    wait_for(lambda: status(web, "/readyz") == 503, "the web not to be ready")
    assert [status(web, path) for path in ("/healthz", "/readyz?writes=1", "/explore")] == [200, 503, 200]
    assert web.process.status == "running"
    web.process.kill("SIGINT")  # whoever cannot wait
    assert web.process.wait() == 0


#: Of a machine that is slow, the main process would otherwise kill what the test has not ended within five seconds.
PATIENT = ("--graceful-timeout", "60", "--keep-alive", "60")
REQUEST = (
    b"POST /api/v1/quota/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n",
    b"Content-Length: 2\r\n\r\n{",
    b"}",
)


@pytest.mark.proof
@pytest.mark.parametrize("sent", [1, 2], ids=["half of its head", "its head and half of its body"])
def test_a_request_that_has_begun_when_the_listener_closes_gets_its_answer(
    nodes: Nodes, tmp_path: Path, sent: int
) -> None:
    web = Web(nodes, tmp_path, "", options=PATIENT, WEB_DRAIN="0s")
    with connected(web) as idle, connected(web) as opened:
        opened.sendall(b"".join(REQUEST[:sent]))
        web.process.kill("SIGTERM")
        wait_for(lambda: is_refused(web), "the listener to close")
        assert idle.recv(1) == b""
        opened.sendall(b"".join(REQUEST[sent:]))
        answer = http.client.HTTPResponse(opened)
        answer.begin()
        assert answer.status == 200
    assert web.process.wait() == 0


@pytest.mark.proof
def test_a_process_that_is_told_twice_to_stop_drains_all_the_same(nodes: Nodes, tmp_path: Path) -> None:
    """A manager may signal the whole group, and then the main process tells its children."""
    web = Web(nodes, tmp_path, "", options=PATIENT, WEB_DRAIN="30s")
    [worker] = web.process.children()
    with closing(http.client.HTTPConnection(web.url.removeprefix("http://"), timeout=60)) as connection:
        for told in (False, True):
            for _ in range(20):
                connection.request("GET", "/healthz")
                answer = connection.getresponse()
                assert (answer.status, answer.read() != b"", answer.will_close) == (200, True, False), told
            worker.send_signal(signal.SIGTERM)
            wait_for(lambda: status(web, "/readyz") == 503, "the process not to be ready")
        connection.request("GET", "/healthz")
        assert not connection.getresponse().will_close


@pytest.mark.proof
def test_a_process_whose_main_process_was_killed_says_so_to_its_clients_and_ends(nodes: Nodes, tmp_path: Path) -> None:
    web = Web(nodes, tmp_path, "", WEB_DRAIN="30s")
    [worker] = web.process.children()
    with closing(http.client.HTTPConnection(web.url.removeprefix("http://"), timeout=60)) as connection:

        def has_ended() -> bool:
            try:
                connection.request("GET", "/readyz")
                answer = connection.getresponse()
            except (ConnectionError, http.client.HTTPException):  # it was idle for a second between two questions
                return True
            answer.read()
            return answer.status == 503 and answer.will_close

        assert not has_ended()
        begun = time.monotonic()
        os.kill(web.process.pid, signal.SIGKILL)
        wait_for(has_ended, "the process not to be ready")
    assert time.monotonic() - begun < 30  # it would serve this connection for 35 seconds
    wait_for(lambda: not lives(worker), "the process to end")


@pytest.mark.proof
def test_a_live_stream_is_over_when_the_process_stops(system: System, tmp_path: Path) -> None:
    user = system.user()
    job_id, token = system.submit(user), add_token(system.world.uow, user, now=datetime.now(UTC)).secret
    web = Web(system.nodes, tmp_path, token, options=PATIENT, WEB_DRAIN="0s")
    with closing(http.client.HTTPConnection(web.url.removeprefix("http://"), timeout=60)) as connection:
        connection.request("GET", f"/api/v1/analyses/{job_id}/events", headers={"Authorization": f"Bearer {token}"})
        stream = connection.getresponse()
        assert stream.readline().startswith(b"retry")
        begun = time.monotonic()
        web.process.kill("SIGTERM")
        assert b"event: final" not in stream.read()
        assert time.monotonic() - begun < 24  # it would last for 25 seconds
    assert web.process.wait() == 0


def connected(web: Web) -> socket.socket:
    host, port = web.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def is_refused(web: Web) -> bool:
    try:
        web.ask("/healthz")
    except urllib.error.HTTPError:
        return False
    except urllib.error.URLError:
        return True
    except ConnectionError:  # it was still among those that the closed listener had not taken
        return False
    return False


@pytest.mark.proof
@pytest.mark.parametrize("drain", ["0s", "1s"])
def test_after_the_drain_it_ends_by_itself(nodes: Nodes, tmp_path: Path, drain: str) -> None:
    web = Web(nodes, tmp_path, "", WEB_DRAIN=drain)
    web.process.kill("SIGTERM")
    assert web.process.wait() == 0
    with pytest.raises(urllib.error.URLError):
        web.ask("/healthz")


def test_the_drain_is_bounded_and_within_what_the_main_process_waits() -> None:
    assert config.graceful_timeout == 6
    assert load({"WEB_DRAIN": "30s"}).web_drain.total_seconds() == 30
    with pytest.raises(BadSetting, match="WEB_DRAIN"):
        load({"WEB_DRAIN": "31s"})
