"""Headers of every response: what a browser may do with it, and the request's id."""

from __future__ import annotations

from flask import Flask, Response, request

from app.web.core.context import request_id

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; object-src 'none'; frame-ancestors 'none'"
)
#: For API answers that contain secrets or personal data.  Other answers are cached with an ETag and always revalidated.
PERSONAL = ("/api/v1/me", "/api/v1/usage", "/api/v1/quota", "/api/v1/operator", "/api/v1/specs")
ALWAYS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: Unless the page is stricter: flask-wtf needs the referrer of forms on https; other sites get none.
REFERRER = ("Referrer-Policy", "same-origin")
#: Below it the address is the secret: no linked site sees it, and no search engine lists it.
SHARED = "/shared/"
SECRETIVE = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}


def init(app: Flask) -> None:
    """Send them with every response, including errors."""
    app.after_request(_add)


def _add(response: Response) -> Response:
    for name, value in ALWAYS.items():
        response.headers[name] = value
    if request.path.startswith(SHARED):  # also for refusals, and for responses that are not pages
        response.headers |= SECRETIVE
    response.headers.setdefault(*REFERRER)
    response.headers["X-Request-Id"] = request_id()
    response.headers.setdefault("Cache-Control", "no-store" if _is_personal() else "private, no-cache")
    if request.path.startswith("/api/"):
        response.vary.update(("Accept", "Authorization", "Cookie"))
    if request.is_secure:
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    return response


def _is_personal() -> bool:
    """Pages show who is signed in, and all of them contain a form token."""
    if request.path.startswith("/api/"):
        return request.method not in {"GET", "HEAD"} or request.path.startswith(PERSONAL)
    return True
