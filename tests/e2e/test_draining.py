"""How the web stops: a balancer sees that it is not ready while it still answers; then it closes."""

from __future__ import annotations

import http.client
import signal
import urllib.error
from pathlib import Path

import pytest
from durable_harness.waiting import wait_for

from app.errors import BadSetting
from app.server import config
from app.settings import load
from tests.e2e.webs import Web
from tests.nodes import Nodes


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


@pytest.mark.proof
def test_a_request_that_is_open_when_the_listener_closes_gets_its_answer(nodes: Nodes, tmp_path: Path) -> None:
    web = Web(nodes, tmp_path, "", WEB_DRAIN="30s")
    host, port = web.url.removeprefix("http://").split(":")
    opened = http.client.HTTPConnection(host, int(port), timeout=60)
    opened.putrequest("POST", "/api/v1/quota/check")
    opened.putheader("Content-Type", "application/json")
    opened.putheader("Content-Length", "2")
    opened.endheaders()
    opened.send(b"{")
    web.process.kill("SIGTERM")
    wait_for(lambda: status(web, "/readyz") == 503, "the web not to be ready")
    [worker] = web.process.children()
    worker.send_signal(signal.SIGTERM)  # the drain need not be waited for
    wait_for(lambda: is_refused(web), "the listener to close")
    opened.send(b"}")
    assert opened.getresponse().status == 200
    assert web.process.wait() == 0


def is_refused(web: Web) -> bool:
    try:
        web.ask("/healthz")
    except urllib.error.HTTPError:
        return False
    except urllib.error.URLError:
        return True
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
