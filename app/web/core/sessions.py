"""The one cookie: signed, for our pages only; it contains the CSRF token and, when signed in, the session's secret."""

from __future__ import annotations

from flask import Flask, request
from flask.sessions import SecureCookieSessionInterface


class Sessions(SecureCookieSessionInterface):
    """Secure if the browser came by https, which no setting of Flask can express.

    In that case, the name has the prefix `__Host-`: no other host of the domain, and no page on plain http, can set it.
    """

    def get_cookie_name(self, app: Flask) -> str:
        """Decide for each request."""
        name = super().get_cookie_name(app)
        return f"__Host-{name}" if request.is_secure else name

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 - Flask's signature
        """Decide for each request."""
        return request.is_secure


def init(app: Flask) -> None:
    """Always HttpOnly and SameSite=Lax."""
    app.config |= {
        "SESSION_COOKIE_NAME": "fairlane",
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
    }
    app.session_interface = Sessions()
