"""What the server refuses before there is a request is in the access log and in the metrics, once, with the real server."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from durable_harness.waiting import wait_for

from app.store.core.unit_of_work import UnitOfWork
from tests.web.serving import ask, raw, serving
from tests.web.test_platform import CHUNKED
from tests.web.test_web_metrics import sample

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
LONG = b"x" * 20_000
#: What is sent, and the status and reason of the answer.
UNREAD = {
    "a line that is no request": (b"NO HTTP\r\n\r\n", 400, "bad-request"),
    "a line that is too long": (b"GET /" + LONG + b" HTTP/1.1\r\n\r\n", 414, None),
    "a header that is too long": (HEAD + b"X-Long: " + LONG + b"\r\n\r\n", 431, "request-header-fields-too-large"),
    "a coding that is not known": (HEAD + b"Transfer-Encoding: nosuch\r\n\r\n", 501, "not-implemented"),
    "no request after one": (HEAD + b"\r\nNO HTTP\r\n\r\n", 400, "bad-request"),
    "a length that is no number": (HEAD + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n", 400, "bad-request"),
    "half a head": (HEAD, 408, "request-timeout"),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def port(database_url: str, uow: UnitOfWork, home: Path) -> Iterator[int]:
    del uow
    with serving(database_url, home, fresh=True, LOG_FORMAT="json") as port:
        yield port


def lines(home: Path) -> list[dict[str, object]]:
    """The lines of the access log."""
    told = [json.loads(line) for line in home.joinpath("log").read_text().splitlines() if line.startswith("{")]
    return [line for line in told if line["event"] == "request"]


def counted(port: int) -> float:
    return sample(port, "fairlane_http_requests_total", method="other", route="none")


def test_each_kind_has_a_line_and_is_counted_by_its_reason(port: int, home: Path) -> None:
    for number, (kind, (sent, status, reason)) in enumerate(UNREAD.items(), 1):
        *_, document = raw(port, sent, seconds=60).split(b"\r\n\r\n")
        answer = json.loads(document)
        slug = answer["type"].removeprefix("/problems/")
        assert (answer["status"], slug) == (status, reason or slug), kind
        wait_for(lambda number=number: len(lines(home)) == number, "the line of its request")
        line = lines(home)[-1]
        assert (line["method"], line["status"], line["refusal"]) == ("none", status, slug)
        assert (line["request_id"], "route" in line) == (answer["request_id"], False)
        assert counted(port) == number
    assert sample(port, "fairlane_http_refusals_total", reason="bad-request") == 3
    assert sample(port, "fairlane_http_refusals_total", reason="request-timeout") == 1


def test_a_body_that_cannot_be_read_is_told_with_its_request_and_not_again(port: int, home: Path) -> None:
    *_, document = raw(port, CHUNKED.encode() + b"x\r\n", seconds=60).split(b"\r\n\r\n")
    wait_for(lambda: lines(home), "the line of the request")
    [line] = lines(home)
    assert (line["method"], line["status"], line["refusal"]) in (
        ("POST", 400, "bad-request"), ("none", 400, "bad-request"),  # where its head had not been handed over yet
    )  # fmt: skip
    assert line["request_id"] == json.loads(document)["request_id"]
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(CHUNKED.encode())
        wait_for(lambda: sample(port, "fairlane_http_connections") > 1, "the server to have the head")
        ask(port, "GET", "/healthz")
        connection.sendall(b"x\r\n")
        assert b" 400 " in connection.recv(4096)
    wait_for(lambda: len(lines(home)) == 2, "the line of the second request")
    assert (lines(home)[-1]["method"], lines(home)[-1]["status"]) == ("POST", 400)
    assert sample(port, "fairlane_http_refusals_total", reason="bad-request") == 2


def test_silent_connections_and_clients_that_leave_are_no_refusals(port: int, home: Path) -> None:
    with silent(port), silent(port, HEAD + b"\r\n") as kept:
        assert kept.recv(4096)
        assert kept.recv(4096) == b"", "it is closed without a word"
    with silent(port, b"POST /api/v1/analyses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{") as gone:
        wait_for(lambda: sample(port, "fairlane_http_connections") > 1, "the server to have the head")
        gone.close()
    wait_for(lambda: lines(home), "the line of the request without an answer")
    [line] = lines(home)
    assert (line["method"], "status" in line, "refusal" in line) == ("POST", False, False)
    assert sample(port, "fairlane_http_refusals_total") == 0


@contextmanager
def silent(port: int, sent: bytes = b"") -> Iterator[socket.socket]:
    """A connection on which nothing more is sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent)
        yield connection
