"""What the server tells of each request when it is over: the access log, and whatever else is made of exchanges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from service_harness.application import Web
from structlog.testing import capture_logs

from app import origins
from app.exchanges import Exchange
from app.server.access_log import access_line
from app.server.application import bridged
from app.server.bridge import Bridge
from tests.web.test_bridge import READ, SIGN_IN, Client, play, sent

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def ask(web: Web, method: str, path: str, body: object = None, **headers: str) -> tuple[Exchange, list[dict[str, Any]]]:
    """One request through the bridge: its exchange, and what was sent."""
    server, seen = bridged(web.app), []
    server._observers = [seen.append]
    client = Client((method, path))
    client.more.set()
    if body is not None:
        client.chunks.append(json.dumps(body).encode())
        headers["content-type"] = "application/json"
    scope = client.scope() | {"headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()]}
    asyncio.run(server(scope, client.receive, client.send))
    [exchange] = seen
    return exchange, client.sent


def test_a_submission_has_its_route_account_job_and_ids(web: Web) -> None:
    user = web.user()
    body = {"repository": "acme/shop", "commit": "a" * 40}
    exchange, messages = ask(
        web, "POST", "/api/v1/analyses", body, **web.token(user.user_id), traceparent=TRACE, **{"X-Request-Id": "mine"}
    )
    job = json.loads(messages[-1]["body"])
    assert (exchange.method, exchange.route, exchange.status) == ("POST", "/api/v1/analyses", 202)
    assert (exchange.tenant, exchange.job_id) == (str(user.user_id), job["id"])
    assert (exchange.origin.request_id, exchange.origin.traceparent) == ("mine", TRACE)
    assert exchange.size == len(messages[-1]["body"])
    assert exchange.is_whole
    assert exchange.refusal is None
    assert dict(messages[0]["headers"])[b"x-request-id"] == b"mine"


def test_the_route_is_a_rule_and_hides_what_the_path_says(web: Web) -> None:
    exchange, _ = ask(web, "GET", "/shared/a-secret-of-a-link")
    assert (exchange.route, exchange.status, exchange.refusal) == ("/shared/<secret>", 404, "not-found")
    assert (exchange.tenant, exchange.job_id) == (None, None)
    assert "a-secret-of-a-link" not in repr(exchange)


def test_the_job_of_a_route_is_named_and_no_rule_is_none(web: Web) -> None:
    job_id = str(uuid4())
    assert ask(web, "GET", f"/api/v1/analyses/{job_id}")[0].job_id == job_id
    nowhere, _ = ask(web, "GET", "/nowhere")
    assert (nowhere.route, nowhere.status, nowhere.refusal) == (None, 404, "not-found")


def test_a_visitor_is_named_by_the_pseudonym_of_the_address(web: Web) -> None:
    exchange, messages = ask(web, "POST", "/api/v1/analyses", {"repository": "acme/shop", "commit": "b" * 40})
    assert exchange.status == 202, messages
    assert exchange.tenant
    assert "192.0.2.1" not in repr(exchange)


def test_what_is_refused_without_a_thread_is_told_too() -> None:
    seen: list[Exchange] = []

    async def scene(server: Any, app: Any) -> None:
        first = [sent(SIGN_IN, "192.0.2.9").begin(server) for _ in range(2)]
        for _ in first:
            await asyncio.to_thread(app.busy.acquire)
        status, body = await sent(SIGN_IN, "192.0.2.9").run(server)
        [refused] = seen
        assert (refused.status, refused.refusal, refused.route) == (status, "too-many-requests", SIGN_IN[1])
        assert isinstance(body, dict)
        assert body["request_id"] == refused.origin.request_id
        app.may.set()
        await asyncio.gather(*first)

    play(scene, observers=[seen.append])
    assert [exchange.status for exchange in seen] == [429, 200, 200]


def test_a_client_that_goes_before_its_answer_has_no_status() -> None:
    seen: list[Exchange] = []

    async def scene(server: Any, app: Any) -> None:
        gone = sent(("GET", "/slow"), "192.0.2.9").begin(server)
        await asyncio.to_thread(app.busy.acquire)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert [(exchange.status, exchange.is_whole) for exchange in seen] == [(None, False)]

    play(scene, observers=[seen.append])


def test_the_line_of_a_request_has_what_is_known_and_health_checks_are_quiet() -> None:
    with capture_logs() as lines:
        origin = origins.Origin("mine", TRACE)
        access_line(Exchange("GET", origin, "/usage", "u", status=200, size=7, seconds=0.12345, is_whole=True))
        access_line(Exchange("GET", origin, refusal="busy", status=503))
        access_line(Exchange("GET", origin, "/readyz", status=200, is_whole=True))
    assert lines[0] == {
        "event": "request", "log_level": "info", "method": "GET", "route": "/usage", "status": 200, "seconds": 0.1235,
        "bytes": 7, "request_id": "mine", "trace_id": origin.trace_id, "tenant": "u",
    }  # fmt: skip
    assert (lines[1]["refusal"], lines[1]["cut"], lines[1].get("route")) == ("busy", True, None)
    assert [line["log_level"] for line in lines[2:]] in ([], ["debug"])


def test_a_failure_outside_of_the_application_is_answered_and_told_with_the_ids_of_its_request() -> None:
    def failing(_: object, start: Callable[..., object]) -> Iterator[bytes]:
        start("200 OK", [])
        raise RuntimeError("password=hunter2")
        yield b""

    seen, client = [], Client(READ)
    client.more.set()
    server = Bridge(failing, longest_body=1000, client=lambda _: "192.0.2.1", observers=[seen.append])
    with capture_logs() as lines:
        status, problem = asyncio.run(client.run(server))
    [exchange] = seen
    assert isinstance(problem, dict)
    assert (status, exchange.status, exchange.is_whole, exchange.refusal) == (500, 500, True, "internal")
    assert problem["request_id"] == exchange.origin.request_id
    assert "hunter2" not in str(problem)
    assert [line["event"] for line in lines] == ["web.failed"]
