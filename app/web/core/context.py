"""The objects that a request works with: the wiring of its app, the clock, and its own id."""

from __future__ import annotations

import re
from datetime import datetime
from uuid import uuid4

from flask import current_app, g, request

from app.web.core.wiring import WebWiring

EXTENSION = "fairlane"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


def wired() -> WebWiring:
    """The services behind this app."""
    found: WebWiring = current_app.extensions[EXTENSION]
    return found


def utc_now() -> datetime:
    """The one clock of the web, the database's; services get it as an argument."""
    return wired().uow.now()


def request_id() -> str:
    """The client's X-Request-Id if it is a plain one, otherwise our own; the same throughout a request."""
    if "request_id" not in g:
        given = request.headers.get("X-Request-Id", "")
        g.request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
    found: str = g.request_id
    return found


def is_api() -> bool:
    """Whether a program reads the answer, and not a person."""
    return request.path.startswith("/api/") or request.path in {"/healthz", "/readyz", "/metrics"}
