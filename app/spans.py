"""Spans for OpenTelemetry, with the semantic conventions for HTTP and messaging: requests, messages, deliveries.

The first delivery of a message continues the trace of its sender.  Each later one, after a snooze, a retry or the death
of a worker, is a trace of its own that is linked to the sender's: it may come hours later, and is no part of it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import DEFAULT_OFF, DEFAULT_ON, ParentBasedTraceIdRatio, TraceIdRatioBased
from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from app.exchanges import Exchange
from app.origins import Origin

SYSTEM = "celery_durable"
#: The fact that says which delivery of its message one is.
DELIVERIES = "delivery"
#: Celery's states of an attempt in which something went wrong.
_FAILED = "FAILURE"
#: Outcomes of a job's delivery that are failures.
_BAD = frozenset({"failed", "retry"})


def exported_spans(program: str) -> SdkSpans:
    """Spans that are exported by OTLP over HTTP, as OpenTelemetry's own variables say."""
    provider = provider_of(program)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return SdkSpans(provider)


def provider_of(program: str) -> TracerProvider:
    """A provider whose spans are exported nowhere yet.  program: names the service, unless OTEL_SERVICE_NAME does."""
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": f"fairlane-{program}"}
    resource = Resource.create({**named, "service.version": version("fairlane")})
    return TracerProvider(resource=resource, id_generator=GivenTraceIds())


class GivenTraceIds(RandomIdGenerator):
    """A new trace has the id that its request's lines in the log have already."""

    def __init__(self) -> None:
        super().__init__()
        self.of_thread = threading.local()

    def generate_trace_id(self) -> int:
        """Return the id in `of_thread`, which is for one trace only, or a random one."""
        given: int | None = vars(self.of_thread).pop("given", None)
        return super().generate_trace_id() if given is None else given


class SdkSpans:
    """The spans of one process (app/telemetry.py)."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("fairlane", version("fairlane"))
        self._attempt: Span | None = None
        self._ids = provider.id_generator
        has_ratio = type(provider.sampler) is ParentBasedTraceIdRatio
        root = getattr(provider.sampler, "_root", None) if has_ratio else None
        #: With the usual samplers, what is below a span that is left out is left out too, and needs no span to say so:
        #: such spans took 60 us of an accept.
        self._follows = has_ratio or provider.sampler in (DEFAULT_ON, DEFAULT_OFF)
        #: Of the ids below which `parentbased_traceidratio` keeps a trace.  To ask it takes 40 us of an accept.
        self._bound = root.bound if isinstance(root, TraceIdRatioBased) else None

    def request_began(self, exchange: Exchange) -> None:
        """Begin the span of a request, which becomes the origin of what the request does."""
        origin = exchange.origin
        if self._is_left_out(origin):
            exchange.span = INVALID_SPAN
            exchange.origin = Origin(origin.request_id, origin.traceparent)
            return
        if origin.is_new and isinstance(self._ids, GivenTraceIds):
            self._ids.of_thread.given = int(origin.trace_id, 16)
        exchange.span = self._tracer.start_span(exchange.method, _within(origin), SpanKind.SERVER)
        exchange.origin = Origin(origin.request_id, _traceparent(exchange.span))

    def request_ended(self, exchange: Exchange) -> None:
        """End it."""
        span: Span = exchange.span
        if span.is_recording():
            span.update_name(f"{exchange.method} {exchange.route}" if exchange.route else exchange.method)
            span.set_attributes(_facts_of_request(exchange))
            if (exchange.status or 0) >= 500:
                span.set_status(StatusCode.ERROR)
        span.end()

    @contextmanager
    def sending(self, messages: Sequence[tuple[str, str]], origin: Origin | None) -> Iterator[list[Origin]]:
        """Spans of messages, for the time in which they are sent."""
        if origin and not origin.is_new and self._is_left_out(origin):
            yield [origin] * len(messages)
            return
        parent = _within(origin) if origin else Context()
        request_id = origin.request_id if origin else None
        spans = [self._sent(queue, message_id, parent) for queue, message_id in messages]
        try:
            yield [Origin(request_id, _traceparent(span)) for span in spans]
        finally:
            for span in spans:
                span.end()

    def _is_left_out(self, origin: Origin) -> bool:
        """Whether it is known that nobody keeps what is below the origin; of a new trace, by the origin's id."""
        if not origin.is_new:
            return self._follows and origin.is_left_out
        return self._bound is not None and int(origin.trace_id, 16) & TraceIdRatioBased.TRACE_ID_LIMIT >= self._bound

    def _sent(self, queue: str, message_id: str, parent: Context) -> Span:
        facts = _facts_of_message("send", queue, message_id)
        return self._tracer.start_span(f"send {queue}", parent, SpanKind.PRODUCER, facts)

    def attempt_began(self, queue: str, message_id: str, origin: Origin, facts: Mapping[str, Any]) -> None:
        """Begin the span of a delivery; a process has one at a time."""
        parent = _within(origin) if facts[DELIVERIES] == 1 else Context()
        links = [] if origin.is_new else [Link(_remote(origin))]
        known = {f"fairlane.{name}": fact for name, fact in facts.items() if fact is not None}
        known |= _facts_of_message("process", queue, message_id)
        self._attempt = self._tracer.start_span(f"process {queue}", parent, SpanKind.CONSUMER, known, links)

    def note_outcome(self, outcome: str) -> None:
        """How the delivery ended: an outcome of docs/glossary.md."""
        if self._attempt is not None:
            self._attempt.set_attribute("fairlane.outcome", outcome)
            if outcome in _BAD:
                self._attempt.set_status(StatusCode.ERROR, outcome)

    def attempt_ended(self, state: str) -> None:
        """End it."""
        if self._attempt is not None:
            if state == _FAILED:
                self._attempt.set_status(StatusCode.ERROR, state)
            self._attempt.end()
            self._attempt = None


def _traceparent(span: Span) -> str:
    """The header that names a span."""
    of = span.get_span_context()
    return f"00-{of.trace_id:032x}-{of.span_id:016x}-{of.trace_flags:02x}"


def _within(origin: Origin) -> Context:
    """The place of a span below its origin's; at the top of a new trace if nothing outside has a span."""
    return Context() if origin.is_new else set_span_in_context(NonRecordingSpan(_remote(origin)), Context())


def _remote(origin: Origin) -> SpanContext:
    _, trace_id, span_id, flags = origin.traceparent.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))


def _facts_of_message(operation: str, queue: str, message_id: str) -> dict[str, str]:
    return {
        "messaging.system": SYSTEM,
        "messaging.operation.name": operation,
        "messaging.operation.type": operation,
        "messaging.destination.name": queue,
        "messaging.message.id": message_id,
    }


def _facts_of_request(exchange: Exchange) -> dict[str, Any]:
    status = exchange.status
    facts = {
        "http.request.method": exchange.method,
        "http.route": exchange.route,
        "http.response.status_code": status,
        "http.response.body.size": exchange.size,
        "error.type": (exchange.refusal or str(status)) if status is not None and status >= 500 else None,
        "fairlane.request_id": exchange.origin.request_id,
        "fairlane.tenant": exchange.tenant,
        "fairlane.job_id": exchange.job_id,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}
