"""The one cookie: signed, for our pages only; it holds the CSRF token and, signed in, the session's secret."""

from __future__ import annotations

from flask import Flask, request
from flask.sessions import SecureCookieSessionInterface


class Sessions(SecureCookieSessionInterface):
    """HttpOnly and SameSite=Lax always; Secure where the browser came by https."""

    def get_cookie_name(self, app: Flask) -> str:
        return "fairlane"

    def get_cookie_httponly(self, app: Flask) -> bool:
        return True

    def get_cookie_samesite(self, app: Flask) -> str:
        return "Lax"

    def get_cookie_secure(self, app: Flask) -> bool:
        return request.is_secure
