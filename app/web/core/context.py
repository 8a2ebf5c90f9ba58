"""The objects that a request works with: the wiring of its app, the clock, and its own id."""

from __future__ import annotations

from datetime import datetime

from flask import current_app, request

from app.web.core.exchanges import exchange
from app.web.core.wiring import WebWiring

EXTENSION = "fairlane"


def wired() -> WebWiring:
    """The services behind this app."""
    found: WebWiring = current_app.extensions[EXTENSION]
    return found


def utc_now() -> datetime:
    """The one clock of the web, the database's; services get it as an argument."""
    return wired().uow.now()


def request_id() -> str:
    """The client's X-Request-Id if it is a plain one, otherwise our own; the same throughout a request."""
    return exchange().origin.request_id or ""


def is_api() -> bool:
    """Whether a program reads the answer, and not a person."""
    return request.path.startswith("/api/") or request.path in {"/healthz", "/readyz", "/metrics"}
