"""Spans of a request, of a message and of its deliveries, as a collector would get them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed: pip install 'fairlane[otel]'")

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Decision, TraceIdRatioBased
from opentelemetry.trace import SpanKind, StatusCode

from app import telemetry
from app.exchanges import Exchange
from app.origins import Origin
from app.spans import SdkSpans, provider_of

TRACE_ID = 0x4BF92F3577B34DA6A3CE929D0E0E4736
GIVEN = f"00-{TRACE_ID:032x}-00f067aa0ba902b7-01"
FACTS = {"task": "tasks.analysis.analyse", "attempt": 1, "tenant": "u", "request_id": "r", "delivery": 1}


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[SdkSpans]:
    provider = provider_of("test")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield SdkSpans(provider)
    provider.shutdown()


def exchange(traceparent: str | None = GIVEN) -> Exchange:
    return Exchange("POST", Origin.of_request("r", traceparent))


def finished(exporter: InMemorySpanExporter) -> dict[str, Any]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_request_a_message_and_its_first_delivery_are_one_trace(
    spans: SdkSpans, exporter: InMemorySpanExporter
) -> None:
    request = exchange()
    spans.request_began(request)
    with spans.sending([("analysis_default", "7")], request.origin) as [sent]:
        pass
    request.route, request.status = "/api/v1/analyses", 202
    spans.request_ended(request)
    spans.attempt_began("analysis_default", "7", sent, FACTS)
    spans.note_outcome("completed")
    spans.attempt_ended("SUCCESS")
    found = finished(exporter)
    server, producer, consumer = (
        found[name] for name in ("POST /api/v1/analyses", "send analysis_default", "process analysis_default")
    )
    assert {span.context.trace_id for span in found.values()} == {TRACE_ID}
    assert [span.kind for span in (server, producer, consumer)] == [
        SpanKind.SERVER, SpanKind.PRODUCER, SpanKind.CONSUMER,
    ]  # fmt: skip
    assert (producer.parent.span_id, consumer.parent.span_id) == (server.context.span_id, producer.context.span_id)
    assert server.attributes["http.response.status_code"] == 202
    for span, operation in ((producer, "send"), (consumer, "process")):
        assert span.attributes["messaging.operation.type"] == operation
        assert span.attributes["messaging.destination.name"] == "analysis_default"
        assert span.attributes["messaging.message.id"] == "7"
        assert span.attributes["messaging.system"] == "celery_durable"
    assert consumer.attributes["fairlane.outcome"] == "completed"
    assert consumer.status.status_code is StatusCode.UNSET


def test_a_later_delivery_is_a_trace_of_its_own_and_linked(spans: SdkSpans, exporter: InMemorySpanExporter) -> None:
    with spans.sending([("analysis_default", "7")], exchange().origin) as [sent]:
        pass
    spans.attempt_began("analysis_default", "7", sent, FACTS | {"attempt": 2, "delivery": 2})
    spans.note_outcome("retry")
    spans.attempt_ended("RETRY")
    found = finished(exporter)
    producer, consumer = found["send analysis_default"], found["process analysis_default"]
    assert consumer.parent is None
    assert consumer.context.trace_id != producer.context.trace_id
    [link] = consumer.links
    assert (link.context.trace_id, link.context.span_id) == (producer.context.trace_id, producer.context.span_id)
    assert consumer.status.status_code is StatusCode.ERROR
    assert consumer.attributes["fairlane.attempt"] == 2


def test_a_request_without_a_trace_begins_one_and_a_failure_is_an_error(
    spans: SdkSpans, exporter: InMemorySpanExporter
) -> None:
    request = exchange(None)
    spans.request_began(request)
    assert not request.origin.is_new
    request.status, request.refusal = 503, "busy"
    spans.request_ended(request)
    [span] = exporter.get_finished_spans()
    assert (span.name, span.parent, span.status.status_code) == ("POST", None, StatusCode.ERROR)
    assert span.attributes["error.type"] == "busy"
    assert f"{span.context.trace_id:032x}" == request.origin.trace_id


def test_what_a_client_does_not_sample_is_not_exported(spans: SdkSpans, exporter: InMemorySpanExporter) -> None:
    request = exchange(GIVEN[:-1] + "0")
    spans.request_began(request)
    with spans.sending([("q", "7"), ("q", "8")], request.origin) as sent:
        assert [one.traceparent[-3:] for one in sent] == ["-00", "-00"]
    spans.request_ended(request)
    assert exporter.get_finished_spans() == ()


def test_a_sampler_that_asks_no_parent_keeps_a_message_of_a_trace_that_is_left_out(
    exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_on")
    provider = provider_of("test")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with SdkSpans(provider).sending([("q", "7")], exchange(GIVEN[:-1] + "0").origin) as [sent]:
        assert sent.traceparent.endswith("-01")
    assert [span.name for span in exporter.get_finished_spans()] == ["send q"]
    provider.shutdown()


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_share_of_traces_that_is_asked_for_is_kept_whole_and_under_the_id_of_the_log(
    exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", str(share))
    provider = provider_of("test")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans, kept = SdkSpans(provider), 0
    sampler = TraceIdRatioBased(share)
    for _ in range(400):
        request = exchange(None)
        trace_id = request.origin.trace_id
        spans.request_began(request)
        with spans.sending([("q", "7"), ("q", "8")], request.origin) as sent:
            pass
        request.route, request.status = "/", 202
        spans.request_ended(request)
        is_kept = sampler.should_sample(None, int(trace_id, 16), "POST").decision is Decision.RECORD_AND_SAMPLE
        kept += is_kept
        assert {one.trace_id for one in sent} == {trace_id}
        assert {int(one.traceparent[-2:], 16) & 1 for one in sent} == {int(is_kept)}
        assert len(exporter.get_finished_spans()) == 3 * kept
    provider.shutdown()


def test_messages_of_work_without_a_trace_are_traces_of_their_own(
    spans: SdkSpans, exporter: InMemorySpanExporter
) -> None:
    origin = Origin.of_message(None, None)
    for _ in range(2):
        with spans.sending([("q", "7"), ("q", "8")], origin):
            pass
    assert len({span.context.trace_id for span in exporter.get_finished_spans()}) == 4


def test_spans_are_made_where_an_endpoint_is_set_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*telemetry.ENDPOINTS, telemetry.DISABLED):
        monkeypatch.delenv(name, raising=False)
    assert not telemetry.is_wanted()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert telemetry.is_wanted()
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not telemetry.is_wanted()


def test_the_service_is_named_after_its_program_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    assert provider_of("web").resource.attributes["service.name"] == "fairlane-web"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "shop")
    assert provider_of("web").resource.attributes["service.name"] == "shop"
