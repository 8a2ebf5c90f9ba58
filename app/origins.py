"""Where work comes from: the ids of the request behind it, which log lines, messages and webhooks carry on."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

#: A request's own id, if it is a plain one.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
#: The header of W3C Trace Context: version, trace, span and flags; neither of the two ids may be only zeros.
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class Origin:
    """The request that work comes from.

    request_id: None if no request is behind it; traceparent: the header of W3C Trace Context; is_new: the trace begins
    here, so nothing outside has a span of it.
    """

    request_id: str | None
    traceparent: str
    is_new: bool = False

    @classmethod
    def of_request(cls, request_id: str | None, traceparent: str | None) -> Origin:
        """Keep the ids that a client sent, if they are plain and valid; make the others."""
        known = request_id if request_id and _REQUEST_ID.fullmatch(request_id) else secrets.token_hex(16)
        return cls.of_message(known, traceparent)

    @classmethod
    def of_message(cls, request_id: str | None, traceparent: str | None) -> Origin:
        """The ids that a message carries; work without a trace begins one."""
        if isinstance(traceparent, str) and _TRACEPARENT.fullmatch(traceparent):
            return cls(request_id, traceparent)
        made = secrets.token_hex(24)
        return cls(request_id, f"00-{made[:32]}-{made[32:]}-00", is_new=True)

    @property
    def is_left_out(self) -> bool:
        """A sampler has decided, here or at the sender, that nobody keeps this trace."""
        return not self.is_new and not int(self.traceparent[-2:], 16) & 1

    @property
    def trace_id(self) -> str:
        """The id of the whole trace."""
        return self.traceparent[3:35]


_current: ContextVar[Origin | None] = ContextVar("origin", default=None)


def current() -> Origin | None:
    """The origin of what this thread does now."""
    return _current.get()


def enter(origin: Origin | None) -> None:
    """From now on this thread works for another origin."""
    _current.set(origin)


@contextmanager
def entered(origin: Origin | None) -> Iterator[None]:
    """Work for an origin during the block."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


def add_to_line(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the ids to a log line; a processor of structlog."""
    if (origin := _current.get()) is not None:
        if origin.request_id is not None:
            line.setdefault("request_id", origin.request_id)
        line.setdefault("trace_id", origin.trace_id)
    return line
