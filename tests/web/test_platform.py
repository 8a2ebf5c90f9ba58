"""What holds for every route: headers, problems, the document, health; and the real server."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from openapi_spec_validator import validate
from service_harness.application import POLICY, SETTINGS, Web, resolve
from sqlalchemy import create_engine, text

from app.errors import Problem
from app.store.core.unit_of_work import UnitOfWork
from app.web import create_app
from app.web.core.headers import ALWAYS
from app.web.core.wiring import WebWiring
from tests.web.serving import ask, raw, serving

SOMEBODY = "6f0bb0a0-7b0e-4d8e-9b7e-3f0d6f6f2d11"
VALUES: dict[str, str | int] = {
    "job_id": SOMEBODY, "token_id": SOMEBODY, "host": "github.com", "owner": "a", "name": "b", "slug": "x",
    "filename": "fairlane.css", "user_id": SOMEBODY, "other_id": SOMEBODY, "tier": "pro", "queue": "analysis_default",
    "passkey_id": SOMEBODY, "secret": "fs_x", "suffix": "md", "number": 1, "session_id": SOMEBODY,
    "webhook_id": SOMEBODY,
}  # fmt: skip


def routes(web: Web) -> Iterator[tuple[str, str]]:
    adapter = web.app.url_map.bind("localhost")
    for rule in web.app.url_map.iter_rules():
        path = adapter.build(rule.endpoint, {name: VALUES[name] for name in rule.arguments})
        for method in sorted(rule.methods or ()):
            yield method, path


def test_every_route_sends_the_security_headers_and_none_fails(web: Web) -> None:
    seen = list(routes(web))
    assert len(seen) > 40
    for method, path in [*seen, ("GET", "/nothing"), ("POST", "/api/v1/nothing"), ("PUT", "/")]:
        answer = web.client.open(path, method=method)
        assert answer.status_code < 500, (method, path, answer.text)
        for name, value in ALWAYS.items():
            assert answer.headers.get(name) == value, (method, path, name)
        # an address below /shared/ is a secret, and is told to nobody
        assert answer.headers["Referrer-Policy"] == ("no-referrer" if path.startswith("/shared/") else "same-origin"), (
            path
        )
        assert len(answer.headers["X-Request-Id"]) == 32
        assert "Strict-Transport-Security" not in answer.headers
        if answer.status_code >= 400 and path.startswith("/api/") and method != "HEAD":
            assert answer.content_type == "application/problem+json", (method, path)
            assert answer.json["status"] == answer.status_code
            assert answer.json["request_id"] == answer.headers["X-Request-Id"]
        answer.close()


def test_hsts_is_sent_on_https_only(web: Web) -> None:
    answer = web.client.get("/healthz", base_url="https://localhost")
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_no_page_holds_inline_script_or_style(web: Web) -> None:
    job_id = web.submit().json["id"]
    web.completed(job_id)
    for path in ("/", f"/analyses/{job_id}", "/usage", "/docs/api", "/sign-in", "/nothing"):
        page = web.client.get(path).text
        assert "style=" not in page, path
        assert "<style" not in page, path
        assert " onclick=" not in page, path
        assert "<script>" not in page, path
        assert "https://cdn" not in page, path


def test_a_plain_request_id_is_kept_and_another_one_replaced(web: Web) -> None:
    assert web.client.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["X-Request-Id"] == "abc-1"
    assert "<" not in web.client.get("/healthz", headers={"X-Request-Id": "<x>"}).headers["X-Request-Id"]


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/api/v1/nothing", 404), ("PUT", "/api/v1/analyses", 405)]
)
def test_errors_of_the_routing_are_problems_too(web: Web, method: str, path: str, status: int) -> None:
    answer = web.client.open(path, method=method)
    assert (answer.status_code, answer.content_type) == (status, "application/problem+json")
    if status == 405:
        assert set(answer.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}


def test_a_failure_of_ours_is_a_500_problem_without_its_reason(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("app.services.jobs.read_jobs.job", broken)
    answer = web.client.get(f"/api/v1/analyses/{SOMEBODY}")
    assert (answer.status_code, answer.json["type"]) == (500, "/problems/internal")
    assert "hunter2" not in answer.text
    assert web.client.get(f"/analyses/{SOMEBODY}").mimetype == "text/html"


def test_a_database_that_is_away_is_503_and_never_a_false_202() -> None:
    engine = create_engine("postgresql+psycopg2://x:y@127.0.0.1:1/x", connect_args={"connect_timeout": 1})
    app = create_app(WebWiring(SETTINGS, UnitOfWork(engine), POLICY, resolve, "secret"))
    client = app.test_client()
    answer = client.post("/api/v1/analyses", json={"repository": "a/b"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert client.get("/readyz").json["checks"]["database"].startswith("away")
    assert client.get("/metrics").status_code == 503
    assert client.get("/healthz").status_code == 200
    page = client.get("/usage")
    assert (page.status_code, page.mimetype) == (503, "text/html")


def test_ready_means_database_schema_and_queues(web: Web) -> None:
    said = web.client.get("/readyz").json
    assert abs(said.pop("clock_ahead_seconds")) < 30  # one machine, one clock
    checks = dict.fromkeys(("database", "migrations", "queues", "writes"), "ok")
    assert said == {"status": "ready", "writes": True, "checks": checks}
    with web.uow.begin() as tx:
        tx.run(text("UPDATE kombu_queue SET name = 'other' WHERE name = 'analysis_default'"))
    try:
        answer = web.client.get("/readyz")
        assert (answer.status_code, answer.json["checks"]["queues"]) == (503, "missing analysis_default")
    finally:
        with web.uow.begin() as tx:
            tx.run(text("UPDATE kombu_queue SET name = 'analysis_default' WHERE name = 'other'"))


def test_metrics_are_facts_of_the_tables(web: Web) -> None:
    web.submit()
    page = web.client.get("/metrics").text
    assert 'fairlane_queue_depth{queue="analysis_default"} 1.0' in page
    assert 'fairlane_queue_oldest_age_seconds{queue="analysis_default"}' in page
    assert 'fairlane_queue_leased{queue="analysis_default"} 0.0' in page
    assert "fairlane_reserved_units 1.0" in page


def test_the_document_is_valid_and_names_every_route_of_the_api(web: Web) -> None:
    document = web.client.get("/api/v1/openapi.json").json
    validate(document)
    assert document["openapi"].startswith("3.1")
    described = {(method.upper(), path) for path, calls in document["paths"].items() for method in calls}
    written = {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in web.app.url_map.iter_rules()
        if rule.endpoint.startswith("api.")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert described == written
    ids = [call["operationId"] for calls in document["paths"].values() for call in calls.values()]
    assert len(ids) == len(set(ids))


def test_the_document_tells_nothing_of_the_host_that_asked_first(web: Web) -> None:
    assert "192.0.2.7" not in web.client.get("/api/v1/openapi.json", headers={"Host": "192.0.2.7"}).text


def test_every_problem_has_a_slug_of_its_own() -> None:
    slugs = [kind.slug for kind in Problem.__subclasses__()]
    assert len(slugs) == len(set(slugs))


@pytest.fixture
def gunicorn(database_url: str, uow: UnitOfWork, tmp_path: Path) -> Iterator[int]:
    """gunicorn as `fairlane up` starts it, with two processes."""
    del uow
    with serving(database_url, tmp_path, "--workers", "2", fresh=True) as port:
        yield port


@pytest.mark.proof
def test_the_real_server_serves_and_refuses(gunicorn: int) -> None:
    status, body = ask(gunicorn, "POST", "/api/v1/analyses", {"repository": "acme/shop", "commit": "a" * 40})
    assert status == 202, body
    job = json.loads(body)
    assert ask(gunicorn, "GET", job["links"]["self"])[0] == 200
    assert ask(gunicorn, "GET", job["links"]["page"])[0] == 200
    # 50 MB are announced and a little of it sent: the refusal comes without the rest
    with socket.create_connection(("127.0.0.1", gunicorn), timeout=60) as raw:
        raw.sendall(
            b"POST /api/v1/analyses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 50000000\r\n\r\n" + b'{"repository": "' + b"a" * 10_000
        )
        assert b"413" in raw.recv(4096).split(b"\r\n")[0]
    # and a body of unknown length is read no further than the limit
    with socket.create_connection(("127.0.0.1", gunicorn), timeout=60) as raw:
        raw.sendall(
            b"POST /api/v1/analyses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
        with contextlib.suppress(ConnectionError):
            for _ in range(20):
                raw.sendall(chunk)
        assert b"413" in raw.recv(4096).split(b"\r\n")[0]
    with closing(http.client.HTTPConnection("127.0.0.1", gunicorn, timeout=60)) as events:
        events.request("GET", job["links"]["events"])
        with events.getresponse() as stream:
            assert stream.readline() == b"retry: 2000\n"


CHUNKED = "POST /api/v1/analyses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
BROKEN_CHUNKS = (
    "x\r\n", "-5\r\nhello\r\n0\r\n\r\n", "5\r\nhelloworld\r\n0\r\n\r\n", "5;\x00\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n", " 5\r\nhello\r\n0\r\n\r\n",
)  # fmt: skip
NO_HTTP = (
    "NO HTTP\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
)  # fmt: skip


@pytest.mark.proof
def test_malformed_chunks_and_what_is_no_http_are_400_problems(gunicorn: int) -> None:
    for sent in (*(CHUNKED + body for body in BROKEN_CHUNKS), *NO_HTTP):
        lines, _, document = raw(gunicorn, sent.encode("latin-1")).partition(b"\r\n\r\n")
        assert b"application/problem+json" in lines, (sent, lines)
        status = json.loads(document)["status"]
        assert status == 400 or (sent in NO_HTTP and 400 <= status < 600), (sent, lines)
    _half_closed(gunicorn)


def _half_closed(gunicorn: int) -> None:
    """A body that ends early is no request; a client that says no more after its request is answered."""
    head = "POST /api/v1/analyses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    with socket.create_connection(("127.0.0.1", gunicorn), timeout=60) as half:
        half.sendall(head.encode() + b"{")
        half.shutdown(socket.SHUT_WR)
        assert half.recv(100) == b""
    with socket.create_connection(("127.0.0.1", gunicorn), timeout=60) as half:
        half.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        half.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: half.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200 ")
