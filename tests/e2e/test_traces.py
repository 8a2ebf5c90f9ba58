"""Spans as a collector gets them from a real web and a real worker: one trace, and a linked one for a later delivery."""

from __future__ import annotations

import json
import os
import signal
import threading
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import pytest
from durable_harness.waiting import wait_for

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed: pip install 'fairlane[otel]'")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from app.services.accounts import tokens
from tests.e2e.conftest import System
from tests.e2e.webs import Web

pytestmark = pytest.mark.proof

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"


class Collector:
    """Takes what is exported by OTLP over HTTP."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services = set[str]()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                collector.take(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Be silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def take(self, body: bytes) -> None:
        for of in ExportTraceServiceRequest.FromString(body).resource_spans:
            named = {one.key: one.value.string_value for one in of.resource.attributes}
            self.services.add(named["service.name"])
            self.spans += [span for scope in of.scope_spans for span in scope.spans]

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()


def submit(web: Web, system: System, token: str) -> UUID:
    system.make_repository("slow")
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "traceparent": f"00-{TRACE_ID}-00f067aa0ba902b7-01",
    }
    body = json.dumps({"repository": "local:slow"}).encode()
    with urllib.request.urlopen(urllib.request.Request(web.url + "/api/v1/analyses", body, headers)) as answer:
        return UUID(json.loads(answer.read())["id"])


def test_a_job_is_one_trace_and_its_second_delivery_is_linked(system: System, collector: Collector) -> None:
    env = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server.server_port}",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    token = tokens.add_token(system.world.uow, system.user(), now=datetime.now(UTC)).secret
    web = Web(system.nodes, system.nodes.folder, "", **env)
    worker = system.stalling_worker(**env)
    job_id = submit(web, system, token)
    system.wait(job_id, "running")
    for process in worker.container.children():
        os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: "signal 9 (SIGKILL)" in worker.container.logs(), "the worker to notice")
    system.go_on()
    system.wait(job_id, "completed")
    wait_for(lambda: collector.named("process analysis_default"), "the span of the second delivery")
    wait_for(lambda: collector.named("POST /api/v1/analyses"), "the span of the request")
    [server], [producer], [consumer] = map(
        collector.named, ("POST /api/v1/analyses", "send analysis_default", "process analysis_default")
    )
    assert server.trace_id.hex() == producer.trace_id.hex() == TRACE_ID
    assert producer.parent_span_id == server.span_id
    # the span of the first delivery died with its process
    [link] = consumer.links
    assert (link.trace_id, link.span_id) == (producer.trace_id, producer.span_id)
    assert consumer.trace_id != producer.trace_id
    facts = {one.key: one.value.string_value or one.value.int_value for one in consumer.attributes}
    assert (facts["messaging.message.id"], facts["fairlane.attempt"]) == (str(job_id), 2)
    assert facts["fairlane.outcome"] == "completed"
    assert collector.services == {"fairlane-web", "fairlane-worker"}
