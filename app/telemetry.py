"""Whether this process makes spans for OpenTelemetry: with `fairlane[otel]` and OTEL_EXPORTER_OTLP_ENDPOINT only.

Without them nothing of OpenTelemetry is imported, and each place that would make a span looks at one variable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import structlog

from app.exchanges import Exchange
from app.origins import Origin

#: OpenTelemetry's own variables; either of the first two turns it on.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
DISABLED = "OTEL_SDK_DISABLED"

log = structlog.get_logger(__name__)


class Spans(Protocol):
    """Makes spans (app/spans.py)."""

    def request_began(self, exchange: Exchange) -> None:
        """Begin the span of a request, which becomes the origin of what the request does."""
        ...

    def request_ended(self, exchange: Exchange) -> None:
        """End it."""
        ...

    def sending(
        self, messages: Sequence[tuple[str, str]], origin: Origin | None
    ) -> AbstractContextManager[list[Origin]]:
        """Spans of messages, for the time in which they are sent.  messages: the queue and the id of each.

        Returns: the origin that each of them carries.
        """
        ...

    def attempt_began(self, queue: str, message_id: str, origin: Origin, facts: Mapping[str, Any]) -> None:
        """Begin the span of a delivery in this process.  facts: its attributes; `delivery`: 1 for the first one."""
        ...

    def attempt_ended(self, state: str) -> None:
        """End it.  state: Celery's."""
        ...

    def note_outcome(self, outcome: str) -> None:
        """How the delivery ended, for its span."""
        ...


#: Of this process; None: no spans.
spans: Spans | None = None


def begin(program: str) -> None:
    """Make spans from now on, if that is wanted.  After a fork, because they are exported by a thread."""
    global spans  # noqa: PLW0603 - of the process
    if not is_wanted():
        return
    try:
        from app.spans import exported_spans  # noqa: PLC0415 - an extra
    except ImportError:
        log.warning("otel_not_installed", needs="fairlane[otel]")
        return
    spans = exported_spans(program)


def is_wanted() -> bool:
    """Whether the environment names a place for spans."""
    return any(os.environ.get(name) for name in ENDPOINTS) and os.environ.get(DISABLED, "").lower() != "true"


def note_outcome(outcome: str) -> None:
    """How the delivery that this process works on ended."""
    if spans is not None:
        spans.note_outcome(outcome)
