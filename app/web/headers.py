"""Headers of every response: what a browser may do with it, and the request's id."""

from __future__ import annotations

from flask import Flask, Response, request

from app.web.context import request_id

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; object-src 'none'; frame-ancestors 'none'"
)
ALWAYS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # flask-wtf asks for the referrer on https; other sites get none
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def init(app: Flask) -> None:
    """Send them with every response, errors included."""
    app.after_request(_add)


def _add(response: Response) -> Response:
    for name, value in ALWAYS.items():
        response.headers[name] = value
    response.headers["X-Request-Id"] = request_id()
    response.headers.setdefault("Cache-Control", "private, no-cache")
    if request.path.startswith("/api/"):
        response.vary.update(("Accept", "Authorization", "Cookie"))
    if request.is_secure:
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    return response
