"""One request and its answer, as the server saw them: what the access log, the metrics and the traces are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.origins import Origin

#: Where the application finds the exchange in its environ.
EXCHANGE = "fairlane.exchange"


@dataclass(slots=True)
class Exchange:
    """The server makes it, the application adds what it finds out, and the server adds the end.

    method: `none` if the server could not read the request; route: the rule that the path matches, never the path,
    because paths hold secrets; None if no rule matches, or if the server refused the request itself, other than a form
    to sign in; tenant: the account; job_id: of the route, or of the answer; refusal: slug of the problem; status: None
    if the client went before the answer; size: bytes of the body that were handed over; seconds: from the head of the
    request to the last byte; is_whole: everything was handed over; span: of a trace.
    """

    method: str
    origin: Origin
    route: str | None = None
    tenant: str | None = None
    job_id: str | None = None
    refusal: str | None = None
    status: int | None = None
    size: int = 0
    seconds: float = 0.0
    is_whole: bool = False
    span: Any = field(default=None, repr=False)


#: Told of each exchange when it is over, in the thread of the event loop: it may neither wait nor raise.
Observe = Callable[[Exchange], None]


def unread() -> Exchange:
    """The exchange of what came as a request, but could not be read as one."""
    return Exchange("none", Origin.of_request(None, None))


def received(environ: dict[str, Any]) -> Exchange:
    """The exchange that a request begins.  environ: of WSGI; the exchange is put into it."""
    origin = Origin.of_request(environ.get("HTTP_X_REQUEST_ID"), environ.get("HTTP_TRACEPARENT"))
    found = environ[EXCHANGE] = Exchange(environ["REQUEST_METHOD"], origin)
    return found
