"""Pages for people: forms with a CSRF token, all of it usable without JavaScript."""

from __future__ import annotations

from apiflask import APIFlask
from flask_wtf import CSRFProtect  # type: ignore[import-untyped]

from app.web.api import api


def init(app: APIFlask) -> None:
    """Register the pages.  The API takes no cookie for a write, so it needs no CSRF token."""
    app.config |= {"WTF_CSRF_TIME_LIMIT": None}  # as long as the session: a form left open overnight still works
    CSRFProtect(app).exempt(api)
